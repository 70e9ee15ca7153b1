import { test } from "tap";
import { OperationState, type WatchOperationResponse } from "../../../gen/hostplane/v1/operation_pb.ts";
import { createOperationsUnderTest } from "../../server/domains/operations/operations-under-test.ts";
import { callerOf } from "../../server/domains/plan/plan-under-test.ts";
import { createCountingKind } from "../../server/operations/counting-kind.ts";
import { openOwnStore } from "../../server/store/own-store.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();
const rpc = "proto.LVService/CreateBackup";

async function rest(messages: AsyncIterable<WatchOperationResponse>): Promise<WatchOperationResponse[]> {
  const reported: WatchOperationResponse[] = [];
  for await (const message of messages) {
    reported.push(message);
  }
  return reported;
}

test("operations of one gateway are reported, watched and cancelled on another", { skip }, async (t) => {
  const postgres = await startPostgres(t);
  const url = await postgres.createDatabase();
  const counting = createCountingKind({ isAbortable: true });
  const runner = await createOperationsUnderTest(t, { store: await openOwnStore(t, { url }), counting });
  const other = await createOperationsUnderTest(t, { store: await openOwnStore(t, { url }), isIdle: true });
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  counting.before("forward second", async () => {
    reached.resolve();
    await opened.promise;
  });
  const { id } = await runner.begin(rpc, { resource: "groups/a" });
  await reached.promise;
  t.same(await other.engine.operations.counts(), { scheduled: 0, active: 1, undoing: 0, needsAttention: 0 });
  const first = await other.watch({ id }).next();
  t.match(first.value, { operation: { state: OperationState.ACTIVE, step: "second" } });
  const watching = [rest(other.watch({ id })), rest(runner.watch({ id, cursor: first.value?.cursor ?? "" }))];
  opened.resolve();
  const [whole = [], resumed = []] = await Promise.all(watching);
  t.match(whole.at(-1), { operation: { state: OperationState.COMPLETED } });
  // Each may have left out states between these, since only the latest one is sent.
  t.equal(resumed.at(-1)?.cursor, whole.at(-1)?.cursor);
  t.notOk(resumed.some(({ cursor }) => cursor === first.value?.cursor));

  counting.before("forward second", ({ signal }) => {
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  const cancelled = await runner.begin(rpc, { resource: "groups/a/volumes/b" });
  const messages = other.watch({ id: cancelled.id });
  for await (const { operation } of messages) {
    if (operation?.step === "second" && !operation.cancelRequested) {
      await other.call("cancelOperation", { id: cancelled.id });
    }
    if (operation?.endedAt !== undefined) {
      t.equal(operation.state, OperationState.CANCELLED);
    }
  }

  const listed = async (request: object, services?: readonly string[]) =>
    (await other.call("listOperations", request, { caller: callerOf("viewer", services) })).operations.map(
      (operation) => operation.id,
    );
  t.same(await listed({ resource: "groups/a", kind: "test" }), [cancelled.id, id]);
  t.same(await listed({ states: [OperationState.COMPLETED], pageSize: 1 }), [id]);
  t.same(await listed({}, ["proto.VGService"]), []);
  const none = { peer: { services: new Set<string>() } };
  t.match(await other.call("listOperations", {}, none), { operations: [] });
});
