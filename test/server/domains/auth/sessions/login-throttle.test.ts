import fc from "fast-check";
import { test } from "tap";
import { createLoginThrottle } from "../../../../../server/domains/auth/sessions/login-throttle.ts";
import { rowAfterFailure } from "../../../../../server/domains/auth/store/login-failures.ts";
import { errorOf, openAuthStore, reasonOf } from "../auth-under-test.ts";

const right = async () => true;
const wrong = async () => false;

async function fail(
  guard: ReturnType<typeof createLoginThrottle>,
  attempt: { readonly name: string; readonly address: string },
  times: number,
): Promise<void> {
  for (let time = 0; time < times; time++) {
    await guard(attempt, wrong);
  }
}

test("after five failures of a user and address, even the right password has to wait without being checked", async (t) => {
  const guard = createLoginThrottle(await openAuthStore(t));
  const alice = { name: "alice", address: "192.0.2.1" };
  await fail(guard, alice, 5);
  let isReceived = false;
  const error = await errorOf(
    guard(alice, async () => {
      isReceived = true;
      return true;
    }),
  );
  t.match(error, { reason: "TOO_MANY_LOGINS", code: "RESOURCE_EXHAUSTED" });
  t.notOk(isReceived, "no hash is computed");
  const waitMs = error?.retryAfterMs ?? 0;
  t.ok(waitMs > 0 && waitMs <= 1000, `${waitMs} ms`);
  t.same(
    [
      await guard({ name: "alice", address: "192.0.2.2" }, right),
      await guard({ name: "bob", address: "192.0.2.1" }, right),
    ],
    [true, true],
    "the user elsewhere and other users here are not blocked",
  );
  await new Promise((resolve) => setTimeout(resolve, waitMs + 20));
  t.ok(await guard(alice, right));
  await fail(guard, alice, 4);
  t.ok(await guard(alice, right), "a success has reset the count");
});

test("the delay doubles with each failure", async (t) => {
  const guard = createLoginThrottle(await openAuthStore(t));
  const alice = { name: "alice", address: "192.0.2.1" };
  await fail(guard, alice, 5);
  const first = await errorOf(guard(alice, right));
  await new Promise((resolve) => setTimeout(resolve, (first?.retryAfterMs ?? 0) + 20));
  await fail(guard, alice, 1);
  const second = await errorOf(guard(alice, right));
  const waitMs = second?.retryAfterMs ?? 0;
  t.ok(waitMs > 1000 && waitMs <= 2000, `${waitMs} ms`);
});

test("after twenty failures of an address, all users from it have to wait, and none from elsewhere", async (t) => {
  const guard = createLoginThrottle(await openAuthStore(t));
  for (let index = 0; index < 20; index++) {
    await guard({ name: `user-${index}`, address: "192.0.2.1" }, wrong);
  }
  t.equal(await reasonOf(guard({ name: "admin", address: "192.0.2.1" }, right)), "TOO_MANY_LOGINS");
  t.equal(await reasonOf(guard({ name: "admin", address: "::ffff:192.0.2.1" }, right)), "TOO_MANY_LOGINS");
  t.ok(await guard({ name: "admin", address: "192.0.2.2" }, right));
});

test("an IPv6 address counts as its /64", async (t) => {
  const guard = createLoginThrottle(await openAuthStore(t));
  for (let index = 0; index < 5; index++) {
    await guard({ name: "alice", address: `2001:db8:1:2::${index}` }, wrong);
  }
  t.equal(
    await reasonOf(guard({ name: "alice", address: "2001:db8:1:2:ffff::1" }, right)),
    "TOO_MANY_LOGINS",
  );
  t.ok(await guard({ name: "alice", address: "2001:db8:1:3::1" }, right));
});

test("counts survive restarts", async (t) => {
  const store = await openAuthStore(t);
  await fail(createLoginThrottle(store), { name: "alice", address: "192.0.2.1" }, 5);
  const later = createLoginThrottle(store);
  t.equal(await reasonOf(later({ name: "alice", address: "192.0.2.1" }, right)), "TOO_MANY_LOGINS");
});

test("five of many concurrent guesses are checked, on one gateway and on two", async (t) => {
  const store = await openAuthStore(t);
  const guards = [createLoginThrottle(store), createLoginThrottle(store)] as const;
  let received = 0;
  const guess = async () => {
    received += 1;
    return false;
  };
  const attempts = Array.from({ length: 30 }, (_, index) =>
    reasonOf(guards[index % 2 === 0 ? 0 : 1]({ name: "alice", address: "192.0.2.1" }, guess)),
  );
  const reasons = await Promise.all(attempts);
  t.equal(received, 5);
  t.equal(reasons.filter((reason) => reason === "TOO_MANY_LOGINS").length, 25);
});

test("concurrent right passwords are all checked, up to the queue limit", async (t) => {
  const guard = createLoginThrottle(await openAuthStore(t));
  const alice = { name: "alice", address: "192.0.2.1" };
  const reasons = await Promise.all(Array.from({ length: 20 }, () => reasonOf(guard(alice, right))));
  t.equal(reasons.filter((reason) => reason === undefined).length, 17);
  t.equal(reasons.filter((reason) => reason === "BUSY").length, 3);
  t.ok(await guard(alice, right), "none of them counts as a failure");
});

test("an attempt that could not be checked does not count", async (t) => {
  const guard = createLoginThrottle(await openAuthStore(t));
  const alice = { name: "alice", address: "192.0.2.1" };
  for (let time = 0; time < 30; time++) {
    await t.rejects(
      guard(alice, () => Promise.reject(new Error("no turn"))),
      /no turn/,
    );
  }
  t.ok(await guard(alice, right));
});

test("a success does not reset the failures of other users at the address", async (t) => {
  const guard = createLoginThrottle(await openAuthStore(t));
  for (let index = 0; index < 19; index++) {
    await guard({ name: `user-${index}`, address: "192.0.2.1" }, wrong);
  }
  t.ok(
    await guard({ name: "mallory", address: "192.0.2.1" }, right),
    "a success with another account resets nothing",
  );
  await guard({ name: "user-20", address: "192.0.2.1" }, wrong);
  t.equal(await reasonOf(guard({ name: "mallory", address: "192.0.2.1" }, right)), "TOO_MANY_LOGINS");
});

test("names of any length and content are counted", async (t) => {
  const guard = createLoginThrottle(await openAuthStore(t));
  for (const name of ["", "\0", "x".repeat(1_000_000), "\ud800", "'; drop table users"]) {
    t.notOk(await guard({ name, address: "192.0.2.1" }, wrong));
  }
});

test("the delay grows to 15 minutes, and one failure is forgiven per 15 minutes", async (t) => {
  const counter = { key: "k", freeFailures: 5 };
  let row = rowAfterFailure(undefined, counter, 0);
  const waits: number[] = [row.blocked_until];
  for (let time = 1; time < 20; time++) {
    const nowMs = row.blocked_until;
    row = rowAfterFailure(row, counter, nowMs);
    waits.push(row.blocked_until - nowMs);
  }
  t.same(waits.slice(0, 8), [0, 0, 0, 0, 1000, 2000, 4000, 8000]);
  t.same(waits.slice(-2), [900_000, 900_000]);
  const daysLater = rowAfterFailure(row, counter, row.last_failure_at + 86_400_000);
  t.match(daysLater, { failures: 1, blocked_until: daysLater.last_failure_at });
});

test("for any sequence of failures, guesses are limited and the delay is at most 15 minutes", async () => {
  const gaps = fc.array(fc.nat(3_600_000), { maxLength: 60 });
  fc.assert(
    fc.property(gaps, fc.constantFrom(5, 20), (list, freeFailures) => {
      const counter = { key: "k", freeFailures };
      let nowMs = 1_000_000;
      let row = rowAfterFailure(undefined, counter, nowMs);
      for (const gapMs of list) {
        nowMs = Math.max(nowMs + gapMs, row.blocked_until);
        row = rowAfterFailure(row, counter, nowMs);
        if (row.blocked_until - nowMs > 900_000 || row.failures < 1 || row.failures > freeFailures + 10) {
          return false;
        }
      }
      // The maximum: the free failures, the doublings, and one per 15 minutes.
      return list.length + 1 <= freeFailures + 10 + Math.ceil((nowMs - 1_000_000) / 900_000) + 1;
    }),
  );
});
