/**
 * Passwords and keys in a list of settings: `Server=…;Password=…`, `AccountName=…;AccountKey=…`. Spec: 6-screens §6.7.
 *
 * A list ends at a line break or a quote. A setting begins the list or stands behind `;`, a blank, `:`, `=`, a bracket; not behind a
 * dot or an arrow: `a.password=b.password;a.host=b.host` is a program.
 */
import { LEAST_PASSWORD } from "./address.ts";
import { BLANK, isIn, LETTER, LINE_BREAK, QUOTE, runEnd, runStart } from "./characters.ts";
import { isExempt } from "./host.ts";
import type { Match } from "./match.ts";
import { isPlaceholder, isReference } from "./placeholder.ts";

/** What the list must name besides, by the key that holds the secret. */
const COMPANIONS: ReadonlyMap<string, "server" | "service"> = new Map([
  ["password", "server"],
  ["pwd", "server"],
  ["accountkey", "service"],
  ["sharedaccesskey", "service"],
]);
const LONGEST = "sharedaccesskey".length;

const BEHIND = String.raw`(?<![\w.$@-]|->)`;
const SETTING = {
  server: setting("Server|Data Source|Host|Address|Addr|Database|Initial Catalog|User Id|Uid|Username", ""),
  service: setting("AccountName|Endpoint", ""),
  host: setting(
    "Server|Data Source|Host|Address|Addr|Endpoint",
    String.raw`(?:(?:tcp|np|lpc|admin):|[\w+.-]+://)?([^;]*)`,
  ),
  user: setting("User Id|Uid|Username", "([^;]*)"),
};

function setting(keys: string, value: string): RegExp {
  return new RegExp(String.raw`${BEHIND}(?:${keys})[ \t]*=[ \t]*${value}`, "i");
}

/** One list, and what is known of it. */
interface KeyList {
  readonly end: number;
  readonly server: boolean;
  readonly service: boolean;
  readonly exempt: boolean;
  readonly user?: string;
}

/** Finds secrets in lists of settings. Linear: each list is read once, whatever number of keys it holds. */
export function keyLists(text: string): Match[] {
  const found: Match[] = [];
  if (!text.includes(";")) return found;
  let list: KeyList | undefined;
  let semicolon = -1;
  for (let sign = text.indexOf("="); sign >= 0; sign = text.indexOf("=", sign + 1)) {
    const companion = companionOf(text, sign);
    if (companion === undefined) continue;
    if (list === undefined || list.end <= sign) list = listAround(text, sign);
    if (!list[companion] || list.exempt) continue;

    const start = runEnd(BLANK, text, sign + 1);
    if (semicolon < start) semicolon = indexOrEnd(text, ";", start);
    const end = runStart(BLANK, text, Math.min(semicolon, list.end));
    const secret = text.slice(start, end);
    if (end - start < LEAST_PASSWORD || isReference(secret) || isPlaceholder(secret) || secret === list.user) continue;
    found.push({ detector: "connection-string", start, end, secret });
  }
  return found;
}

function indexOrEnd(text: string, sought: string, from: number): number {
  const at = text.indexOf(sought, from);
  return at < 0 ? text.length : at;
}

/** What has to stand beside the key before the sign, if it is one that holds a secret. */
function companionOf(text: string, sign: number): "server" | "service" | undefined {
  const last = text.charCodeAt(sign - 1) | 0x20;
  if (last !== 0x64 && last !== 0x79) return undefined; // d, y
  let start = sign;
  while (start > sign - LONGEST - 1 && isIn(LETTER, text, start - 1)) start--;
  const companion = COMPANIONS.get(text.slice(start, sign).toLowerCase());
  if (companion === undefined) return undefined;
  const before = text.slice(Math.max(0, start - 2), start);
  return /[\w.$@-]$|->$/.test(before) ? undefined : companion;
}

function listAround(text: string, at: number): KeyList {
  let start = at;
  while (start > 0 && !isIn(LINE_BREAK, text, start - 1) && !isIn(QUOTE, text, start - 1)) start--;
  let end = at;
  while (end < text.length && !isIn(LINE_BREAK, text, end) && !isIn(QUOTE, text, end)) end++;

  const list = text.slice(start, end);
  const several = list.includes(";");
  return {
    end,
    server: several && SETTING.server.test(list),
    service: several && SETTING.service.test(list),
    exempt: isExempt(SETTING.host.exec(list)?.[1] ?? ""),
    user: SETTING.user.exec(list)?.[1].trim(),
  };
}
