import { test } from "tap";
import { createFairShares } from "../../../../../server/rpc/listener/unknown-callers/fair-shares.ts";

test("a key beyond its limit loses its oldest shares, and no other key does", async (t) => {
  const shares = createFairShares({ total: 100, perKey: 10 });
  const cut: string[] = [];
  shares.take("b", 10, () => cut.push("b"));
  shares.take("a", 4, () => cut.push("a1"));
  const second = shares.take("a", 4, () => cut.push("a2"));
  t.strictSame(cut, []);
  second.add(4);
  t.strictSame(cut, ["a1"]);
  second.add(4);
  t.strictSame(cut, ["a1", "a2"], "one that is too large by itself is cut too");
  second.add(100);
  t.equal(shares.held(), 10, "adding to a share that was cut has no effect");
});

test("beyond the total the key with the largest sum loses shares, whichever key asks", async (t) => {
  const shares = createFairShares({ total: 80, perKey: 60 });
  const cut: string[] = [];
  for (let index = 0; index < 60; index += 1) {
    shares.take("greedy", 1, () => cut.push("greedy"));
  }
  const small = shares.take("modest", 15, () => cut.push("modest"));
  shares.take("new", 10, () => cut.push("new"));
  t.ok(cut.length >= 5 && cut.every((key) => key === "greedy"), `${cut.length} shares`);
  t.ok(shares.held() <= 80);
  small.release();
  small.release();
  t.equal(shares.held(), 60 - cut.length + 10, "a share is released once");
});
