import { test } from "tap";
import { agoText } from "../../../../dashboard/parts/text/ago-text.ts";

const nowMs = Date.UTC(2026, 0, 10, 12);
const secondMs = 1000;
const hourMs = 3_600_000;

test("a time is shown by its distance, in one unit", async (t) => {
  t.equal(agoText(nowMs - 2 * secondMs, nowMs), "now");
  t.equal(agoText(nowMs - 42 * secondMs, nowMs), "42 s ago");
  t.equal(agoText(nowMs - 12.7 * 60 * secondMs, nowMs), "12 min ago");
  t.equal(agoText(nowMs - 36 * hourMs, nowMs), "36 h ago");
  t.equal(agoText(nowMs - 72 * hourMs, nowMs), "3 d ago");
  t.equal(agoText(nowMs + 12 * 60 * secondMs, nowMs), "in 12 min");
});
