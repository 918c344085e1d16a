/**
 * Answers as a caller sees them. Spec: 2-verbs §2.4, §2.26 (results).
 */
import { printable } from "../boundary/print.ts";
import { type Outcome, Refusal } from "../refusal.ts";
import type { Answer, Form } from "./verb.ts";

/** The most text of an MCP answer that has no budget of its own, in UTF-16 units. Spec: 2-verbs §2.7. */
export const TOOL_TEXT = 40_000;

export interface Rendered {
  outcome: Outcome;
  text: string;
  images?: Answer["images"];
}

/** An answer in the form that was asked for. */
export function render(answer: Answer, form: Form): Rendered {
  const outcome = answer.outcome ?? "ok";
  if (form === "json" && answer.bare) return { outcome, text: JSON.stringify(answer.json) + "\n" };
  if (form === "json") {
    const message = answer.message === undefined ? {} : { message: answer.message };
    return { outcome, text: JSON.stringify({ ok: outcome === "ok", outcome, ...message, ...answer.json }) + "\n" };
  }
  const closing = answer.closing?.();
  const text = form === "text" || answer.budgeted ? answer.text() : cutAtRow(answer.text(), closing?.length ?? 0);
  const whole = closing === undefined ? text : text === "" ? closing : `${text}\n${closing}`;
  return form === "text" ? { outcome, text: whole + "\n" } : { outcome, text: whole, images: answer.images };
}

/** A refusal in the form that was asked for. */
export function renderRefusal(refusal: Refusal, form: Form): Rendered {
  const { outcome, message, path, fields } = refusal;
  if (form === "json") {
    const where = path === undefined ? {} : { path };
    return { outcome, text: JSON.stringify({ ok: false, outcome, message, ...where, ...fields }) + "\n" };
  }
  const said = path === undefined ? message : `${message} (${printable(path)})`;
  return { outcome, text: form === "text" ? `refused: ${said}\n` : `${outcome}: ${said}` };
}

/** What a caller is told of a defect of ours: no stack, no detail that could name a place. */
export function fault(): Refusal {
  return new Refusal("fault", "Fettler failed by a defect of its own; nothing was changed by this call");
}

/**
 * What becomes of a call that was cancelled, and is answered all the same. Spec: 2-verbs §2.5.
 * @param changed Something is known to have been changed: what it was is for the verb to say.
 */
export function cancelled(changed = false): Refusal {
  return new Refusal("refused", `cancelled before it was done${changed ? "" : "; nothing was changed"}`);
}

/** Runs a verb and renders what comes of it. A refusal is an answer; anything else that is thrown is a fault, told to `report`. */
export async function answering(
  form: Form,
  act: () => Answer | Promise<Answer>,
  report: (error: unknown) => void,
): Promise<Rendered> {
  try {
    return render(await act(), form);
  } catch (error) {
    if (error instanceof Refusal) return renderRefusal(error, form);
    report(error);
    return renderRefusal(fault(), form);
  }
}

/** Text cut at the end of a row, saying so; `kept` characters come behind it. */
function cutAtRow(text: string, kept: number): string {
  if (text.length + kept <= TOOL_TEXT) return text;
  const notice = "\n... the answer is longer than 40,000 characters and was cut here; narrow the call to see the rest";
  const room = Math.max(0, TOOL_TEXT - notice.length - kept - 1);
  const row = text.lastIndexOf("\n", room);
  return text.slice(0, row > 0 ? row : pairSafe(text, room)) + notice;
}

/** The last place at or before a position that does not part a surrogate pair. */
function pairSafe(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}

/** A number with its noun, which takes an `s` unless it is one. */
export function plural(n: number, noun: string): string {
  return `${n} ${n === 1 ? noun : noun + "s"}`;
}
