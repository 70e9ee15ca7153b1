import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { run } from "../../../../adapters/host/process/run.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { OperationState, StepState } from "../../../../gen/hostplane/v1/operation_pb.ts";
import type { Call } from "../../../../server/rpc/call/call.ts";
import { reasonOf } from "../../../adapters/host/reason-of.ts";
import { createCountingKind } from "../../operations/counting-kind.ts";
import { callerOf } from "../plan/plan-under-test.ts";
import { createOperationsUnderTest } from "./operations-under-test.ts";

const createBackup = "proto.LVService/CreateBackup";
const deleteBackup = "hostplane.v1.BackupService/DeleteBackup";

test("an operation is returned with its current state, until its end", async (t) => {
  const { begin, call, engine } = await createOperationsUnderTest(t);
  const { id } = await begin(createBackup, { actor: "user/alice" });
  await engine.end(id);
  const { operation } = await call("getOperation", { id });
  t.match(operation, {
    id,
    kind: "test.count",
    rpc: createBackup,
    actor: "user/alice",
    state: OperationState.COMPLETED,
    progress: 1,
    result: { outputs: ["made first", "made second", "made third"] },
    steps: [{ name: "first", state: StepState.DONE, attempt: 1 }, {}, {}],
    attempt: 1,
  });
  t.ok(operation?.endedAt);
  const unknown = "5f0c3c0e-0000-4000-8000-000000000000";
  t.equal(await reasonOf(call("getOperation", { id: unknown })), "OPERATION_NOT_FOUND");
  t.equal(await reasonOf(call("getOperation", { id: "" })), "INVALID_FIELD");
  t.equal(await reasonOf(call("listCommands", { id: unknown })), "OPERATION_NOT_FOUND");
  t.equal(await reasonOf(call("cancelOperation", { id: unknown })), "OPERATION_NOT_FOUND");
});

test("an operation must match every filter that is set", async (t) => {
  const { begin, call, engine } = await createOperationsUnderTest(t, { isIdle: true });
  const a = await begin(createBackup, { resource: "groups/a", actor: "user/a" });
  const b = await begin(createBackup, { resource: "groups/a/volumes/b", actor: "user/b" });
  const c = await begin(deleteBackup, { resource: "groups/ab", actor: "user/b" });
  await engine.operations.cancel(c.id);
  const names = new Map([
    [a.id, "a"],
    [b.id, "b"],
    [c.id, "c"],
  ]);
  const listed = async (request: Parameters<typeof call<"listOperations">>[1]) =>
    (await call("listOperations", request)).operations.map(({ id }) => names.get(id)).join("");
  t.equal(await listed({}), "cba", "newest first");
  t.equal(await listed({ states: [OperationState.SCHEDULED] }), "ba");
  t.equal(await listed({ states: [OperationState.SCHEDULED, OperationState.CANCELLED] }), "cba");
  t.equal(await listed({ kind: "test" }), "cba");
  t.equal(await listed({ kind: "test.count" }), "cba");
  t.equal(await listed({ kind: "tes" }), "");
  t.equal(await listed({ resource: "groups/a" }), "ba");
  t.equal(await listed({ resource: "groups/a/", actor: "user/b" }), "b");
  t.equal(await listed({ from: { seconds: 0n }, to: { seconds: 4_000_000_000n } }), "cba");
  t.equal(await listed({ to: { seconds: 1n } }), "");
  t.equal(await reasonOf(call("listOperations", { kind: "a.b.c" })), "INVALID_FIELD");
});

test("pages have no gaps or repeats while more operations are started", async (t) => {
  const { begin, call } = await createOperationsUnderTest(t, { isIdle: true });
  for (let i = 0; i < 12; i += 1) {
    await begin(createBackup, { actor: i % 2 === 0 ? "user/a" : "user/b" });
  }
  const expected = (await call("listOperations", { actor: "user/a" })).operations.map(({ id }) => id);
  const reported: string[] = [];
  let pageToken = "";
  do {
    const page = await call("listOperations", { actor: "user/a", pageSize: 2, pageToken });
    t.equal(page.operations.length, 2);
    reported.push(...page.operations.map(({ id }) => id));
    pageToken = page.nextPageToken;
    await begin(createBackup);
  } while (pageToken !== "");
  t.same(reported, expected);
  t.equal(expected.length, 6);
  const { nextPageToken } = await call("listOperations", { pageSize: 1 });
  t.equal(
    await reasonOf(call("listOperations", { actor: "user/a", pageToken: nextPageToken })),
    "INVALID_FIELD",
  );
});

test("a page of large operations is cut short, and the next page continues", async (t) => {
  const counting = createCountingKind();
  const large = { ...counting.kind, result: () => ({ text: "x".repeat(20_000) }) };
  const { begin, call, engine } = await createOperationsUnderTest(t, {
    counting: { ...counting, kind: large },
  });
  const count = 120;
  const started = await Promise.all(
    Array.from({ length: count }, (_, i) => begin(createBackup, { resource: `things/${i}` })),
  );
  await Promise.all(started.map(({ id }) => engine.end(id)));
  const first = await call("listOperations", { pageSize: 1000 });
  t.ok(first.operations.length < count && first.operations.length >= 50, `${first.operations.length}`);
  const second = await call("listOperations", { pageSize: 1000, pageToken: first.nextPageToken });
  t.equal(second.nextPageToken, "");
  t.equal(new Set([...first.operations, ...second.operations].map(({ id }) => id)).size, count);
});

test("an operation looks missing to a caller that may not call the service that started it", async (t) => {
  const { begin, call, watch } = await createOperationsUnderTest(t, { isIdle: true });
  const { id } = await begin(createBackup);
  const other = await begin(deleteBackup);
  const missing = "no-such-operation";
  const wordsOf = (promise: Promise<unknown>, of: string) =>
    promise.then(
      () => t.fail("it was visible"),
      (error) => error instanceof InfraError && `${error.reason} ${error.message.replaceAll(of, "ID")}`,
    );
  const seers = [
    { caller: callerOf("operator", ["hostplane.v1.BackupService"]) },
    { caller: callerOf("admin"), peer: { services: new Set(["hostplane.v1.BackupService"]) } },
  ];
  for (const facts of seers) {
    const { operations } = await call("listOperations", {}, facts);
    t.same(
      operations.map((operation) => operation.id),
      [other.id],
    );
    for (const name of ["getOperation", "cancelOperation", "retryOperation", "listCommands"] as const) {
      t.equal(
        await wordsOf(call(name, { id }, facts), id),
        await wordsOf(call(name, { id: missing }, facts), missing),
        name,
      );
    }
    t.equal(await reasonOf(watch({ id }, facts).next()), "OPERATION_NOT_FOUND");
  }
  const nothing = await call("listOperations", {}, { caller: callerOf("viewer", ["proto.VGService"]) });
  t.match(nothing, { operations: [], nextPageToken: "" });
  const none = { peer: { services: new Set<string>() } };
  t.match(await call("listOperations", {}, none), { operations: [], nextPageToken: "" });
});

test("cancel and retry need the role of the RPC that started the operation, and note the resource and the operation", async (t) => {
  const { begin, call } = await createOperationsUnderTest(t, { isIdle: true });
  const { id } = await begin(createBackup, { resource: "groups/a/volumes/b" });
  const admins = await begin(deleteBackup);
  for (const name of ["cancelOperation", "retryOperation"] as const) {
    t.equal(await reasonOf(call(name, { id }, { caller: callerOf("viewer") })), "ROLE_REQUIRED");
    t.equal(await reasonOf(call(name, { id: admins.id }, { caller: callerOf("operator") })), "ROLE_REQUIRED");
  }
  const unknown = await begin("proto.LVService/OfALaterVersion");
  const operator = { caller: callerOf("operator") };
  t.equal(await reasonOf(call("cancelOperation", { id: unknown.id }, operator)), "ROLE_REQUIRED");
  t.match(await call("cancelOperation", { id: unknown.id }), { operation: { cancelRequested: true } });

  const noted: (string | undefined)[] = [];
  const note = (of: Call) => noted.push(of.resource(), of.operationId());
  const caller = callerOf("operator", ["proto.LVService"]);
  const answered = new Headers();
  const { operation } = await call("cancelOperation", { id }, { caller, answered }, note);
  t.match(operation, { state: OperationState.CANCELLED, cancelRequested: true, cancellable: false });
  t.same(noted, ["groups/a/volumes/b", id]);
  t.equal(answered.get("hostplane-operation"), id);
  t.equal(await reasonOf(call("cancelOperation", { id }, { caller })), "OPERATION_ENDED");
  t.equal(await reasonOf(call("retryOperation", { id }, { caller })), "OPERATION_NOT_RETRYABLE");
});

test("a failed operation continues when it is retried", async (t) => {
  const { begin, call, engine, counting } = await createOperationsUnderTest(t);
  counting.before("forward second", () => {
    throw new InfraError(hostReasons.NO_SPACE, "there is no room");
  });
  const { id } = await begin(createBackup);
  await engine.end(id);
  t.match((await call("getOperation", { id })).operation, {
    state: OperationState.FAILED,
    error: { code: "RESOURCE_EXHAUSTED", reason: "NO_SPACE", message: "there is no room" },
  });
  counting.before("forward second", () => {});
  const { operation } = await call("retryOperation", { id }, { caller: callerOf("operator") });
  t.match(operation, { id, state: OperationState.SCHEDULED });
  t.match(await engine.end(id), { state: "completed" });
});

test("the commands of an operation are listed oldest first, page by page", async (t) => {
  const { begin, call, engine, counting } = await createOperationsUnderTest(t);
  counting.before("forward first", async () => {
    for (const word of ["a", "b", "c"]) {
      await run(["printf", word], { kind: "mutate" });
    }
  });
  counting.before("forward second", async () => {
    await run(["false"], { kind: "mutate" });
    throw new InfraError(hostReasons.TOOL_FAILED, "it failed");
  });
  counting.before("undo first", () => run(["printf", "undone"], { kind: "mutate" }));
  const { id } = await begin(createBackup);
  await engine.end(id);
  const all: string[] = [];
  let pageToken = "";
  do {
    const page = await call("listCommands", { id, pageSize: 2, pageToken });
    all.push(
      ...page.commands.map(({ step, command, exitCode }) => `${step}: ${command.join(" ")}: ${exitCode}`),
    );
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  t.same(all, [
    "first: printf a: 0",
    "first: printf b: 0",
    "first: printf c: 0",
    "second: false: 1",
    "undo first: printf undone: 0",
  ]);
  t.equal(await reasonOf(call("listCommands", { id, pageSize: -1 })), "INVALID_FIELD");
  t.equal(await reasonOf(call("listCommands", { id, pageToken: "x" })), "INVALID_FIELD");
});
