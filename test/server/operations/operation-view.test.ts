import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Test, test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { OperationState, OperationsService } from "../../../gen/operations/v1/operations_pb.ts";
import { createEvents } from "../../../server/events/events.ts";
import { operationView } from "../../../server/operations/operation-view.ts";
import type { Call } from "../../../server/rpc/call/call.ts";
import { registerService } from "../../../server/rpc/call/service-handlers.ts";
import { rpcReasons } from "../../../server/rpc/reasons.ts";
import { startAppUnderTest } from "../harness/app-under-test.ts";
import { streamProtocols } from "../harness/protocols.ts";
import { rpcErrorOf } from "../harness/rpc-error.ts";
import { openOwnStore } from "../store/own-store.ts";
import { createCountingKind } from "./counting-kind.ts";
import { createEngine } from "./engine-under-test.ts";

const states = {
  scheduled: OperationState.SCHEDULED,
  active: OperationState.ACTIVE,
  completed: OperationState.COMPLETED,
  failed: OperationState.FAILED,
} as const;

const refuse = (): never => {
  throw new InfraError(rpcReasons.NOT_BUILT, "not in this test");
};

/** Starts an app in which CreateHypervisor is a view of an operation, one per hypervisor at a time. */
async function startViews(t: Test) {
  const store = await openOwnStore(t);
  const events = await createEvents({
    store,
    keepMs: 86_400_000,
    onFailed: (error) => t.fail(String(error)),
  });
  t.teardown(() => events.close());
  const counting = createCountingKind({ steps: ["boot", "join"] });
  const engine = createEngine(t, { store, kind: counting.kind, limits: { maxOpen: 6 } });
  const { operations, starter } = engine;
  const ended = Promise.withResolvers<void>();

  async function* createHypervisor({ id }: { readonly id: string }, call: Call) {
    const requester = {
      actor: "user/a",
      accountId: "a",
      rpc: "operations.v1.OperationsService/CreateHypervisor",
    };
    const spec = {
      resource: `hypervisors/${id}`,
      backend: "test",
      input: { id },
      secrets: null,
      requester,
    };
    const view = operationView({ operations, events }, call, () =>
      starter.start({ ...spec, attachKey: `create ${id}` }),
    );
    try {
      for await (const { state, message } of view) {
        yield { state: states[state], msg: message };
      }
    } finally {
      ended.resolve();
    }
  }

  const registration = registerService(OperationsService, {
    listHypervisors: refuse,
    createHypervisor,
    createHypervisors: refuse,
    destroyHypervisor: refuse,
    destroyHypervisors: refuse,
    expandStorage: refuse,
    shrinkStorage: refuse,
    createBackup: refuse,
  });
  const { url, log } = await startAppUnderTest(t, [registration]);
  const client = createClient(OperationsService, createGrpcTransport({ baseUrl: url }));
  return { url, log, client, counting, engine, handlerEnded: ended.promise };
}

/** Returns the messages that a client receives, and the ID of the operation. */
async function follow(
  client: Client<typeof OperationsService>,
  id: string,
  onMessage: (text: string) => unknown = () => {},
  signal?: AbortSignal,
) {
  let operationId: string | null = null;
  const reported: string[] = [];
  const onHeader = (headers: Headers) => {
    operationId = headers.get("hostplane-operation");
  };
  const options = { onHeader, ...(signal === undefined ? {} : { signal }) };
  for await (const { state, msg } of client.createHypervisor({ id }, options)) {
    const [name] = Object.entries(states).find(([, number]) => number === state) ?? [];
    const text = `${name}: ${msg}`;
    reported.push(text);
    await onMessage(text);
  }
  return { reported, operationId };
}

test("a stream of an older API reports an operation from its beginning to its end", async (t) => {
  const { url, log, engine } = await startViews(t);
  for (const { name, createTransport } of streamProtocols) {
    const { reported, operationId } = await follow(
      createClient(OperationsService, createTransport(url)),
      name,
    );
    t.same(reported, [
      "scheduled: queued",
      "active: starting",
      "active: doing boot",
      "active: doing join",
      "completed: done",
    ]);
    t.match(await engine.operations.get(operationId ?? ""), { state: "completed", input: { id: name } });
    t.match(
      log.findLast(({ msg }) => msg === "call"),
      { operationId, code: "OK" },
      "the log contains its ID",
    );
  }
});

test("a step of known size is reported with its progress", async (t) => {
  const { client, counting } = await startViews(t);
  const gate = Promise.withResolvers<void>();
  counting.before("forward boot", async ({ progress }) => {
    progress({ message: "copying the disk", doneBytes: 299, totalBytes: 1000 });
    await gate.promise;
  });
  const { reported } = await follow(client, "sized", async (text) => {
    if (text.startsWith("active: copying")) {
      gate.resolve();
    }
  });
  t.same(reported.slice(-3), ["active: copying the disk: 29 %", "active: doing join", "completed: done"]);
});

test("the stream succeeds however the operation ends, and reports a failure in band", async (t) => {
  const { client, counting, engine } = await startViews(t);
  counting.before("forward join", () => {
    throw new InfraError(hostReasons.NO_SPACE, "there is no room");
  });
  const failed = await follow(client, "a");
  t.equal(failed.reported.at(-1), "failed: there is no room");
  t.ok(failed.reported.includes("active: undoing: doing join"), failed.reported.join(", "));

  counting.before("undo boot", () => {
    throw new InfraError(hostReasons.TOOL_FAILED, "it is stuck");
  });
  const left = await follow(client, "b");
  t.match(left.reported.at(-1), /^failed: there is no room \(Step boot .*it is stuck.* Fix the cause .*\)$/);

  const gate = Promise.withResolvers<void>();
  counting.before("forward boot", () => gate.promise);
  const cancelled = await follow(client, "c", async (text) => {
    if (text === "active: doing boot") {
      const [{ id } = { id: "" }] = (
        await engine.operations.list({ resource: "hypervisors/c" }, { belowSeq: undefined, limit: 1 })
      ).operations;
      await engine.operations.cancel(id);
      counting.before("undo boot", () => {});
      gate.resolve();
    }
  });
  t.equal(cancelled.reported.at(-1), "failed: cancelled; everything was undone");
});

test("a disconnect does not stop an operation, and the same request finds it again", async (t) => {
  const { client, counting, engine, handlerEnded } = await startViews(t);
  const gate = Promise.withResolvers<void>();
  counting.before("forward join", () => gate.promise);
  const leaving = new AbortController();
  const joining = "active: doing join";
  const left = follow(client, "a", (text) => text === joining && leaving.abort(), leaving.signal);
  t.equal((await rpcErrorOf(left)).code, "CANCELLED");
  await handlerEnded;
  const again = await follow(client, "a", (text) => text === joining && gate.resolve());
  t.same(again.reported, [joining, "completed: done"]);
  t.equal([...counting.created.values()].join(), "1,1", "each step was done once");
  const { operations } = await engine.operations.list({}, { belowSeq: undefined, limit: 9 });
  t.same(
    operations.map(({ id }) => id),
    [again.operationId],
  );
  const anew = await follow(client, "a");
  t.not(anew.operationId, again.operationId, "after its end, the request starts a new operation");
});

test("an operation that cannot be started fails the call itself", async (t) => {
  const { client, counting } = await startViews(t);
  const gate = Promise.withResolvers<void>();
  counting.before("forward boot", () => gate.promise);
  const started = ["a", "b", "c"].map((id) => {
    const reached = Promise.withResolvers<void>();
    return { reached: reached.promise, end: follow(client, id, () => reached.resolve()) };
  });
  await Promise.all(started.map(({ reached }) => reached));
  t.match(await rpcErrorOf(follow(client, "d")), { code: "RESOURCE_EXHAUSTED", reason: "BUSY" });
  gate.resolve();
  await Promise.all(started.map(({ end }) => end));
});
