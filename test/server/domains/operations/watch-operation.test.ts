import { toJsonString } from "@bufbuild/protobuf";
import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import {
  OperationState,
  type WatchOperationResponse,
  WatchOperationResponseSchema,
} from "../../../../gen/hostplane/v1/operation_pb.ts";
import type { Caller } from "../../../../server/rpc/call/caller.ts";
import { reasonOf } from "../../../adapters/host/reason-of.ts";
import type { CountingKind } from "../../operations/counting-kind.ts";
import { openOwnStore } from "../../store/own-store.ts";
import { callerOf } from "../plan/plan-under-test.ts";
import { createOperationsUnderTest } from "./operations-under-test.ts";

const rpc = "proto.LVService/CreateBackup";

/** Blocks operations in a function of a step until the gate is opened. */
function gateOf(counting: CountingKind, what: string) {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  counting.before(what, async () => {
    reached.resolve();
    await opened.promise;
  });
  return { reached: reached.promise, open: () => opened.resolve() };
}

const texts = (messages: readonly WatchOperationResponse[]) =>
  messages.map((message) => toJsonString(WatchOperationResponseSchema, message));

async function until(
  messages: AsyncGenerator<WatchOperationResponse, void>,
  isLast: (message: WatchOperationResponse) => boolean,
): Promise<WatchOperationResponse[]> {
  const reported: WatchOperationResponse[] = [];
  for (;;) {
    const { value } = await messages.next();
    if (value === undefined) {
      return reported;
    }
    reported.push(value);
    if (isLast(value)) {
      return reported;
    }
  }
}

const rest = (messages: AsyncGenerator<WatchOperationResponse, void>) => until(messages, () => false);

test("a watch returns the current state, every change once and in order, and ends with the operation", async (t) => {
  const { begin, watch, counting } = await createOperationsUnderTest(t);
  const gate = gateOf(counting, "forward first");
  const { id } = await begin(rpc);
  await gate.reached;
  const watching = [rest(watch({ id })), rest(watch({ id }))];
  gate.open();
  const [one = [], other = []] = await Promise.all(watching);
  t.same(texts(one), texts(other));
  t.equal(new Set(one.map(({ cursor }) => cursor)).size, one.length);
  const doneSteps = one.map(({ operation }) => (operation?.steps ?? []).filter(({ state }) => state === 3));
  t.same(
    doneSteps.map(({ length }) => length),
    doneSteps.map(({ length }) => length).toSorted(),
    "it never goes back",
  );
  t.match(one.at(-1)?.operation, { state: OperationState.COMPLETED });
  t.equal(one.filter(({ operation }) => operation?.state === OperationState.COMPLETED).length, 1);
  t.ok(one.length >= 6, `${one.length} messages`);
  t.match(await rest(watch({ id })), [{ operation: { state: OperationState.COMPLETED } }]);
});

test("a watch continues after the cursor of any message, also at another gateway", async (t) => {
  const store = await openOwnStore(t);
  const { begin, watch, counting } = await createOperationsUnderTest(t, { store });
  const second = await createOperationsUnderTest(t, { store, isIdle: true });
  const gate = gateOf(counting, "forward third");
  const { id } = await begin(rpc);
  const watching = watch({ id });
  const before = await until(watching, ({ operation }) => operation?.step === "third");
  await gate.reached;
  t.ok(before.length >= 2);
  const resumed = before.flatMap(({ cursor }) => [
    rest(watch({ id, cursor })),
    rest(second.watch({ id, cursor })),
  ]);
  gate.open();
  const all = [...before, ...(await rest(watching))];
  for (const [index, messages] of resumed.entries()) {
    const from = Math.floor(index / 2) + 1;
    t.same(texts(await messages), texts(all.slice(from)), `from message ${from} on`);
  }
  for (const [index, { cursor }] of all.entries()) {
    const expected = index === all.length - 1 ? all.slice(-1) : all.slice(index + 1);
    t.same(texts(await rest(watch({ id, cursor }))), texts(expected), "also once it has ended");
  }
});

test("an end that was followed by a retry does not end a watch that resumes before it", async (t) => {
  const { begin, watch, counting, engine } = await createOperationsUnderTest(t);
  counting.before("forward first", () => {
    throw new InfraError(hostReasons.NO_SPACE, "there is no room");
  });
  const { id } = await begin(rpc);
  const [first] = await rest(watch({ id }));
  await engine.end(id);
  const gate = gateOf(counting, "forward first");
  await engine.operations.retry(id);
  await gate.reached;
  const watching = rest(watch({ id, cursor: first?.cursor ?? "" }));
  gate.open();
  const states = (await watching).map(({ operation }) => operation?.state);
  t.equal(states.at(-1), OperationState.COMPLETED);
  t.ok(states.includes(OperationState.FAILED));
});

test("if the changes after a cursor were purged, a watch continues with the current state", async (t) => {
  const store = await openOwnStore(t);
  const { begin, watch, counting } = await createOperationsUnderTest(t, { store });
  const gate = gateOf(counting, "forward third");
  const { id } = await begin(rpc);
  const [first] = await until(watch({ id }), () => true);
  await gate.reached;
  await store.run("events.purge", { keepMs: -60_000, limit: 1000 });
  const watching = watch({ id, cursor: first?.cursor ?? "" });
  t.match((await watching.next()).value, { operation: { state: OperationState.ACTIVE, step: "third" } });
  gate.open();
  t.match((await rest(watching)).at(-1)?.operation, { state: OperationState.COMPLETED });
});

test("an invalid cursor is refused, and one of another store counts as purged history", async (t) => {
  const { begin, watch, engine } = await createOperationsUnderTest(t);
  const { id } = await begin(rpc);
  await engine.end(id);
  t.equal(await reasonOf(rest(watch({ id, cursor: "x" }))), "INVALID_FIELD");
  const others = await createOperationsUnderTest(t);
  const cursor = others.events.cursorOf(1);
  t.match(await rest(watch({ id, cursor })), [{ operation: { state: OperationState.COMPLETED } }]);
});

test("a watch ends when its caller may no longer see the operation, or leaves", async (t) => {
  const { begin, watch, counting } = await createOperationsUnderTest(t);
  const gate = gateOf(counting, "forward first");
  const { id } = await begin(rpc);
  await gate.reached;
  let now: Caller = callerOf("viewer");
  const watching = watch({ id }, { caller: { ...now, current: () => now } });
  await watching.next();
  const ending = new AbortController();
  const left = watch({ id }, { ending });
  await left.next();
  const next = left.next();
  ending.abort(new InfraError(hostReasons.CALLER_LEFT, "left"));
  t.equal(await reasonOf(next), "CALLER_LEFT");
  now = callerOf("viewer", ["proto.VGService"]);
  gate.open();
  t.equal(await reasonOf(rest(watching)), "OPERATION_NOT_FOUND");
});
