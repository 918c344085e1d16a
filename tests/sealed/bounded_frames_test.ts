import { deepStrictEqual as equal, throws } from "node:assert";
import fc from "fast-check";
import { encodeFrame } from "../../src/frames.ts";
import { BoundedFrames, Garbage } from "../../src/sealed/bounded_frames.ts";

Deno.test("frames come out whole however they are cut", () => {
  const frame = fc.record({ header: fc.dictionary(fc.string(), fc.integer()), body: fc.uint8Array({ maxLength: 20 }) });
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
      (frames, sizes) => {
        const bytes = new Uint8Array(frames.flatMap(({ header, body }) => [...encodeFrame(header, body)]));
        const reader = new BoundedFrames();
        const got: unknown[] = [];
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const piece = bytes.slice(at, at + sizes[i % sizes.length]);
          at += piece.length;
          for (const { header, body } of reader.push(piece, 20)) got.push({ header, body: body.slice() });
          if (at === bytes.length) equal(reader.unfinished, false);
        }
        equal(got, frames.map(({ header, body }) => ({ header: JSON.parse(JSON.stringify(header)), body })));
      },
    ),
  );
});

Deno.test("a frame too large is refused at its lengths, wherever they are cut", () => {
  const large = encodeFrame({}, new Uint8Array(21)).subarray(0, 8);
  throws(() => new BoundedFrames().push(large, 20), Garbage);
  const reader = new BoundedFrames();
  equal(reader.push(large.slice(0, 5), 20), []);
  equal(reader.unfinished, true);
  throws(() => reader.push(large.slice(5), 20), Garbage);
  throws(() => new BoundedFrames().push(new Uint8Array([...encodeFrame({}), ...large]), 20), Garbage);
  throws(() => new BoundedFrames().push(new Uint8Array([255, 255, 255, 127, 0, 0, 0, 0]), 20), Garbage);
});

Deno.test("a header is an object in JSON", () => {
  for (const header of [null, 1, "text", [1]]) throws(() => new BoundedFrames().push(encodeFrame(header), 20), Garbage);
  throws(() => new BoundedFrames().push(new Uint8Array(8), 20), Garbage);
  throws(() => new BoundedFrames().push(new Uint8Array([2, 0, 0, 0, 0, 0, 0, 0, 0x7b, 0x7b]), 20), Garbage);
});
