/** Times. Spec: 2-verbs §2.4, §2.9; scenario 102. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { Refusal } from "../../src/refusal.ts";
import { parseTime, timeJson, timeText } from "../../src/text/time.ts";

Deno.test("scenario 102: dates and times, UTC without an offset", () => {
  const table: [written: string, utc: string][] = [
    ["2026-08-12", "2026-08-12T00:00:00.000Z"],
    ["20260812", "2026-08-12T00:00:00.000Z"],
    ["2026-08-12T08:05", "2026-08-12T08:05:00.000Z"],
    ["2026-08-12T08:05:52", "2026-08-12T08:05:52.000Z"],
    ["2026-08-12t08:05:52z", "2026-08-12T08:05:52.000Z"],
    ["2026-08-12T08:05:52.25Z", "2026-08-12T08:05:52.250Z"],
    ["2026-08-12T08:05:52,5", "2026-08-12T08:05:52.500Z"],
    ["2026-08-12T10:05:52+02:00", "2026-08-12T08:05:52.000Z"],
    ["2026-08-12T23:30-01", "2026-08-13T00:30:00.000Z"],
    ["20260812T080552Z", "2026-08-12T08:05:52.000Z"],
    ["20260812T080552.5-0230", "2026-08-12T10:35:52.500Z"],
    ["2024-02-29", "2024-02-29T00:00:00.000Z"],
    ["0001-01-01", "0001-01-01T00:00:00.000Z"],
  ];
  for (const [written, utc] of table) assert.equal(timeJson(parseTime(written)), utc, written);
  assert.equal(parseTime("1970-01-01T00:00:00.1239"), 123.9);
});

Deno.test("scenario 102: what cannot be read", () => {
  const table = [
    "",
    "yesterday",
    "2026",
    "2026-08",
    "2026-8-1",
    "08:05",
    "1754985952",
    "2026-02-29",
    "2026-13-01",
    "2026-00-10",
  ];
  table.push(
    "2026-08-12T24:00",
    "2026-08-12T08:60",
    "2026-08-12T08:05:61",
    "2026-08-12 08:05",
    "2026-08-12Z",
    "2026-08-12T08",
  );
  table.push("2026-08-12T08:05+24:00", "2026-08-12T08:05+02:60", "2026-08-12T0805", "2026-08-12T08:05Zx", "2026-W33-3");
  for (const written of table) {
    assert.throws(
      () => parseTime(written),
      (error) => error instanceof Refusal && error.outcome === "invalid",
      written,
    );
  }
});

Deno.test("what is printed is read back", () => {
  const moment = fc.date({
    min: new Date("0000-01-01T00:00:00Z"),
    max: new Date("9999-12-31T23:59:59.999Z"),
    noInvalidDate: true,
  });
  fc.assert(fc.property(moment, (date) => {
    assert.equal(parseTime(timeJson(date.getTime())), date.getTime());
    assert.equal(parseTime(timeText(date.getTime())), Math.floor(date.getTime() / 1000) * 1000);
    assert.match(timeText(date.getTime()), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  }));
});

Deno.test("a fraction of a millisecond and a moment beyond all dates do no harm", () => {
  assert.equal(timeJson(1999.9), "1970-01-01T00:00:01.999Z");
  assert.equal(timeText(-0.5), "1969-12-31T23:59:59Z");
  assert.equal(timeText(1e300), "+275760-09-13T00:00:00Z");
});
