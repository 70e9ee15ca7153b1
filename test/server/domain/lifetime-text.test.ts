import { test } from "tap";
import { lifetimeText } from "../../../server/domain/lifetime-text.ts";

test("a lifetime has the largest unit that divides it", (t) => {
  const texts = [1, 1500, 60_000, 5_400_000, 7_200_000, 86_400_000, 30 * 86_400_000].map(lifetimeText);
  t.same(texts, [
    "1 millisecond",
    "1500 milliseconds",
    "1 minute",
    "90 minutes",
    "2 hours",
    "1 day",
    "30 days",
  ]);
  t.end();
});
