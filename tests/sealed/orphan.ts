/** Sets a sealed process spinning, prints its pid, and waits to be killed. */
import { ask, ownerOf } from "./support.ts";

const { owner } = ownerOf();
const answer = await ask(owner, "pid");
if (answer.ok) {
  const spinning = ask(owner, "spin", {}, { silence: 60_000, total: 60_000 });
  await new Promise((resolve) => setTimeout(resolve, 100));
  console.log(answer.header.pid);
  await spinning;
}
