import { test } from "tap";
import { createFairTime } from "../../../../../server/rpc/listener/unknown-callers/fair-time.ts";

function startFairTime(msPerSecond: number) {
  let nowMs = 0;
  const time = createFairTime(msPerSecond, () => nowMs);
  return {
    time,
    pass(ms: number) {
      nowMs += ms;
    },
  };
}

test("a share saves the time of two seconds, and no more", async (t) => {
  const { time, pass } = startFairTime(100);
  const share = time.join();
  t.equal(share.left(), 200);
  share.take(150);
  t.equal(share.left(), 50);
  t.notOk(share.isFull());
  pass(1000);
  t.equal(share.left(), 150);
  pass(60_000);
  t.equal(share.left(), 200);
  t.ok(share.isFull());
});

test("a share's debt is at most what it can save", async (t) => {
  const { time, pass } = startFairTime(100);
  const share = time.join();
  share.take(100_000);
  t.equal(share.left(), -200);
  pass(4000);
  t.equal(share.left(), 200);
});

test("shares are even, and those that leave have none", async (t) => {
  const { time, pass } = startFairTime(100);
  const [one, other] = [time.join(), time.join()];
  one.take(50);
  other.take(100);
  const before = [one.left(), other.left()];
  pass(100);
  t.same(
    [one.left(), other.left()],
    before.map((left) => left + 5),
  );
  other.leave();
  other.leave();
  const alone = one.left();
  pass(100);
  t.equal(one.left(), alone + 10);
});

test("one of very many shares can still save enough to begin", async (t) => {
  const { time, pass } = startFairTime(100);
  const shares = Array.from({ length: 1000 }, () => time.join());
  pass(600_000);
  t.ok(shares.every((share) => share.left() === 15));
});

test("all shares together save a fifth of a second", async (t) => {
  const { time, pass } = startFairTime(100);
  const shares = Array.from({ length: 10 }, () => time.join());
  pass(60_000);
  t.equal(time.totalLeft(), 20);
  for (const share of shares) {
    share.take(3);
  }
  t.equal(time.totalLeft(), -10);
  pass(100);
  t.equal(time.totalLeft(), 0);
});

test("returned time can be taken again", async (t) => {
  const { time } = startFairTime(100);
  const share = time.join();
  share.take(30);
  share.take(-30);
  t.equal(share.left(), 200);
  t.equal(time.totalLeft(), 20);
});
