import fc from "fast-check";
import { test } from "tap";
import {
  type Claimant,
  type OpenOperation,
  planClaim,
} from "../../../../server/operations/store/claim-plan.ts";

const nowMs = 1_000_000;

const claimantOf = (facts: Partial<Claimant> = {}): Claimant => ({
  nowMs,
  instanceId: "me",
  host: "alpha",
  kinds: new Set(["test.known"]),
  runningIds: new Set(),
  isAlone: false,
  perSystem: 2,
  seenAtMs: new Map([["alpha", nowMs]]),
  silentMs: 1000,
  ...facts,
});

const scheduled = (id: string, facts: Partial<OpenOperation> = {}): OpenOperation => ({
  id,
  kind: "test.known",
  resource: `things/${id}`,
  system: "test",
  host: null,
  actor: "user/a",
  account_id: "a",
  state: "scheduled",
  waiting_for: "",
  owner: null,
  lease_until: 0,
  not_before: 0,
  created_at: nowMs - 10_000,
  ...facts,
});

const active = (id: string, facts: Partial<OpenOperation> = {}) =>
  scheduled(id, { state: "active", owner: "other", lease_until: nowMs + 1, ...facts });

const nextOf = (open: readonly OpenOperation[], claimant = claimantOf()) => planClaim(open, claimant).nextId;

test("the oldest operation is claimed first, after orphaned ones", async (t) => {
  t.equal(nextOf([]), undefined);
  t.equal(nextOf([scheduled("1"), scheduled("2")]), "1");
  t.equal(nextOf([scheduled("1"), active("2", { lease_until: nowMs })]), "2");
  t.equal(nextOf([scheduled("1"), active("2", { state: "undoing", lease_until: 0 })]), "2");
});

test("operations that another gateway may be running are skipped, unless this is the only gateway", async (t) => {
  t.equal(nextOf([active("1")]), undefined);
  t.equal(nextOf([active("1")], claimantOf({ isAlone: true })), "1");
  t.equal(nextOf([active("1", { owner: "me" })], claimantOf({ isAlone: true })), undefined);
  const mine = active("1", { owner: "me", lease_until: 0 });
  t.equal(nextOf([mine], claimantOf({ runningIds: new Set(["1"]) })), undefined, "it still runs here");
  t.equal(nextOf([mine]), "1");
});

test("the caller with the fewest running operations goes first", async (t) => {
  const b = { actor: "user/b", account_id: "b" };
  t.equal(nextOf([active("1"), scheduled("2"), scheduled("3", b)]), "3");
  const anonymous = { account_id: "", actor: "10.0.0.1" };
  const claimant = claimantOf({ perSystem: 9 });
  t.equal(nextOf([active("1", anonymous), active("2"), scheduled("3"), scheduled("4", b)], claimant), "4");
  t.equal(
    nextOf(
      [active("1", anonymous), scheduled("2", anonymous), scheduled("3", { account_id: "x" })],
      claimant,
    ),
    "3",
  );
});

test("the limit of a system applies per host or in total", async (t) => {
  const onHost = (host: string) => ({ host });
  const two = [active("1"), active("2")];
  const { nextId, waiting } = planClaim([...two, scheduled("3")], claimantOf());
  t.equal(nextId, undefined);
  t.same(waiting, [{ id: "3", waitingFor: "test already runs 2 operations, which is its limit" }]);
  t.equal(nextOf([...two, scheduled("3", { system: "other" })]), "3");
  t.equal(nextOf([...two, scheduled("3", onHost("alpha"))]), "3");
  const elsewhere = [active("1", onHost("beta")), active("2", onHost("beta"))];
  t.equal(nextOf([...elsewhere, scheduled("3", onHost("alpha"))]), "3");
});

test("operations on one resource run in order, and those that wait name the one they wait for", async (t) => {
  const resource = "things/a";
  const open = [scheduled("1", { resource }), scheduled("2", { resource })];
  t.equal(nextOf(open), "1");
  const behind = planClaim([active("1", { resource }), scheduled("2", { resource })], claimantOf());
  t.equal(behind.nextId, undefined);
  t.same(behind.waiting, [{ id: "2", waitingFor: "operation 1 on the same resource must end first" }]);
  t.equal(nextOf([scheduled("1", { resource }), active("2", { resource })]), undefined, "1 was retried");
  t.equal(
    nextOf([active("1", { resource, host: "beta" }), scheduled("2", { resource, host: "alpha" })]),
    "2",
  );
});

test("operations of another host are left to it, with a reason when its gateway is away", async (t) => {
  const foreign = scheduled("1", { host: "beta" });
  t.same(planClaim([foreign], claimantOf({ seenAtMs: new Map([["beta", nowMs - 1000]]) })), {
    nextId: undefined,
    waiting: [],
  });
  const away = claimantOf({ seenAtMs: new Map([["beta", nowMs - 1001]]) });
  const { waiting } = planClaim([foreign], away);
  t.match(waiting, [
    { id: "1", waitingFor: "no gateway of host beta has been running since 1970-01-01T00:16:38.999Z" },
  ]);
  const reported = { ...foreign, waiting_for: waiting[0]?.waitingFor ?? "" };
  t.same(planClaim([reported], away).waiting, [], "only once");
  t.same(planClaim([active("1", { host: "beta" })], away).waiting, [], "its lease has not expired");
  t.equal(planClaim([active("1", { host: "beta", lease_until: 0 })], away).waiting.length, 1);
  const back = planClaim([{ ...reported, host: "alpha" }], claimantOf());
  t.equal(back.nextId, "1");
});

test("an operation whose kind no gateway knows gets a reason to wait, unless another gateway has set one", async (t) => {
  const kind = "test.newer";
  const reported = {
    id: "1",
    waitingFor: /^no gateway knows the kind test\.newer: configure its domain again/,
  };
  const planOf = (operation: OpenOperation) => planClaim([operation], claimantOf());
  t.match(planOf(scheduled("1", { kind })), { nextId: undefined, waiting: [reported] });
  t.same(planOf(scheduled("1", { kind, created_at: nowMs - 1000 })).waiting, []);
  t.same(planOf(scheduled("1", { kind, waiting_for: "the limit" })).waiting, []);
  t.same(planOf(active("1", { kind })).waiting, []);
  t.match(planOf(active("1", { kind, lease_until: nowMs - 1001 })).waiting, [reported]);
  const alone = planClaim([active("1", { kind })], claimantOf({ isAlone: true }));
  t.match(alone.waiting, [reported], "immediately if there is no other gateway");
});

test("unknown kinds and operations that are not due yet are skipped", async (t) => {
  t.equal(nextOf([scheduled("1", { kind: "test.newer" })]), undefined);
  t.equal(nextOf([scheduled("1", { not_before: nowMs + 1 })]), undefined);
});

test("for any sequence of starts and ends, order and limits hold, and every operation runs", async () => {
  const expected = fc.record({
    resource: fc.constantFrom("a", "b", "c"),
    system: fc.constantFrom("lvm", "s3"),
    host: fc.constantFrom("alpha", null),
    account_id: fc.constantFrom("x", "y", "z"),
  });
  const action = fc.oneof(
    expected.map((facts) => ({ do: "start" as const, facts })),
    fc.nat().map((index) => ({ do: "end" as const, index })),
    fc.nat().map((index) => ({ do: "die" as const, index })),
  );
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), fc.integer({ min: 1, max: 3 }), (actions, perSystem) => {
      let open: OpenOperation[] = [];
      let count = 0;
      const claimant = claimantOf({ perSystem });
      const placeOf = ({ system, host }: OpenOperation) => `${system} ${host}`;
      const resourceOf = ({ resource, host }: OpenOperation) => `${resource} ${host}`;
      const startedOf = () => open.filter(({ state }) => state === "active");

      function claimAll(): void {
        for (;;) {
          const { nextId, waiting } = planClaim(open, claimant);
          const reasons = new Map(waiting.map(({ id, waitingFor }) => [id, waitingFor]));
          open = open.map((each) => ({ ...each, waiting_for: reasons.get(each.id) ?? each.waiting_for }));
          if (nextId === undefined) {
            break;
          }
          const next = open.find(({ id }) => id === nextId);
          const older = open.slice(
            0,
            open.findIndex(({ id }) => id === nextId),
          );
          if (next?.state === "scheduled" && older.some((each) => resourceOf(each) === resourceOf(next))) {
            throw new Error(`${nextId} overtook another of its resource`);
          }
          open = open.map((each) =>
            each.id === nextId
              ? { ...each, state: "active", owner: "me", lease_until: nowMs + 1, waiting_for: "" }
              : each,
          );
        }
        for (const started of Map.groupBy(startedOf(), placeOf).values()) {
          if (started.length > perSystem) {
            throw new Error("too many of one system run");
          }
        }
        if (new Set(startedOf().map(resourceOf)).size < startedOf().length) {
          throw new Error("two of one resource run");
        }
        if (open.some(({ state, waiting_for }) => (state === "scheduled") !== (waiting_for !== ""))) {
          throw new Error("one waits without a reason, or runs with one");
        }
      }

      for (const each of actions) {
        if (each.do === "start") {
          count += 1;
          open.push(scheduled(String(count), each.facts));
        } else {
          const started = startedOf();
          const one = started[each.index % Math.max(1, started.length)];
          open = open.flatMap((other) =>
            other !== one ? [other] : each.do === "end" ? [] : [{ ...other, lease_until: 0 }],
          );
        }
        claimAll();
      }
      while (startedOf().length > 0) {
        const [first] = startedOf();
        open = open.filter((each) => each !== first);
        claimAll();
      }
      if (open.length > 0) {
        throw new Error("some were never begun");
      }
    }),
  );
});
