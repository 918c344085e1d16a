/** Fixed shapes. Spec: 6-screens §6.4; scenarios 173, 174. */
import assert from "node:assert/strict";
import { ALPHABETS, FIXED, mixed, says } from "./samples.ts";

const AWS = "AK" + "IA" + mixed(16, ALPHABETS.upperDigits);
const HUB = "ghp" + "_" + mixed(36);
const PAT = "github_" + "pat_" + mixed(82);
const SLACK = "xox" + "b-" + mixed(10);
const STRIPE = "sk_" + "live_" + mixed(16);
const GOOGLE = "AI" + "za" + mixed(35);

Deno.test("each fixed shape, wherever it stands", () => {
  const places: [before: string, after: string, line: number][] = [
    ["", "", 1],
    ["\n\n", "\n", 3],
    ["a\r\nb\rc\n", "\r\n", 4],
    ['{"key":"', '"}', 1],
    ["key: '", "'", 1],
    ["# see ", " below", 1],
    ["https://host/a?k=", "&b=1", 1],
    ["(", ")", 1],
    ["é", "é", 1],
    ["\ufeff", "", 1],
  ];
  for (const [detector, make] of FIXED) {
    for (const [before, after, line] of places) {
      assert.deepEqual(says(before + make(1) + after), [`${line} ${detector}`], `${detector} in ${before}…${after}`);
    }
  }
});

Deno.test("near misses of the fixed shapes pass", () => {
  const passing: string[] = [
    AWS.slice(0, -1),
    AWS + "A",
    AWS + "_",
    AWS + "a",
    "x" + AWS,
    "_" + AWS,
    AWS.toLowerCase(),
    AWS.slice(0, 10) + "-" + AWS.slice(10),
    AWS.slice(0, 10) + "\n" + AWS.slice(10),
    "ABIA" + AWS.slice(4),
    HUB.slice(0, -1),
    "9" + HUB,
    "ghx_" + HUB.slice(4),
    "GHP_" + HUB.slice(4),
    HUB.slice(0, 30) + "-" + HUB.slice(30),
    PAT.slice(0, -1),
    "a" + PAT,
    SLACK.slice(0, -1),
    "xoxc-" + SLACK.slice(5),
    "a" + SLACK,
    STRIPE.slice(0, -1),
    "sk_test_" + STRIPE.slice(8),
    "pk_live_" + STRIPE.slice(8),
    "a" + STRIPE,
    GOOGLE.slice(0, -1),
    GOOGLE + "a",
    GOOGLE + "-",
    "-" + GOOGLE,
    GOOGLE.slice(0, 20) + "." + GOOGLE.slice(20),
  ];
  for (const text of passing) assert.deepEqual(says(text), [], text.slice(0, 8));
});

Deno.test("runs longer than they must be, and edges that only some shapes mind", () => {
  assert.deepEqual(says(HUB + mixed(100)), ["1 github-token"]);
  assert.deepEqual(says("_" + HUB + "_"), ["1 github-token"]);
  assert.deepEqual(says("-" + SLACK + "_"), ["1 slack-token"]);
  assert.deepEqual(says("_" + STRIPE + "-"), ["1 stripe-live-key"]);
  assert.deepEqual(says("-" + AWS + "-"), ["1 aws-access-key-id"]);
});

Deno.test("a token within the run of another of its kind is one finding", () => {
  assert.deepEqual(says(`${SLACK}-${"xox"}a-${mixed(12)}`), ["1 slack-token"]);
  assert.deepEqual(says(`${PAT}_${HUB}`), ["1 github-token"]);
});

Deno.test("several on one line, and the same one twice", () => {
  assert.deepEqual(says(`${AWS} ${HUB}\n${STRIPE}`), ["1 aws-access-key-id", "1 github-token", "2 stripe-live-key"]);
  assert.deepEqual(says(`${AWS}\n${AWS}`), ["1 aws-access-key-id"]);
});
