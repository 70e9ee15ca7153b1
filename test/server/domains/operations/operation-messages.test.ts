import { create, toJson } from "@bufbuild/protobuf";
import { test } from "tap";
import { OperationCommandSchema, OperationSchema } from "../../../../gen/hostplane/v1/operation_pb.ts";
import {
  commandMessage,
  operationMessage,
} from "../../../../server/domains/operations/operation-messages.ts";
import type { Operation } from "../../../../server/operations/operation.ts";
import { operationWith } from "./operation-under-test.ts";

const jsonOf = (operation: Operation) =>
  toJson(OperationSchema, create(OperationSchema, operationMessage(operation)));

test("known values are set in the message, and unknown ones are not", async (t) => {
  t.same(jsonOf(operationWith()), {
    id: "operation-1",
    kind: "test.work",
    resource: "volumeGroups/vg0/volumes/data",
    state: "OPERATION_STATE_ACTIVE",
    message: "working",
    step: "work",
    steps: [{ name: "work", state: "STEP_STATE_RUNNING", attempt: 1, startedAt: "1970-01-01T00:00:01.500Z" }],
    actor: "user/alice",
    rpc: "proto.LVService/CreateBackup",
    host: "host-1",
    cancellable: true,
    attempt: 1,
    createdAt: "1970-01-01T00:00:01Z",
    startedAt: "1970-01-01T00:00:01.500Z",
  });
  const known = operationWith({
    state: "needsAttention",
    progress: 0,
    doneBytes: 0,
    totalBytes: 2 ** 40,
    step: undefined,
    host: undefined,
    isCancelRequested: true,
    isCancellable: false,
    failure: { code: "INTERNAL", reason: "TOOL_FAILED", message: "lvremove failed" },
    attention: { left: ["the snapshot data-1"], advice: ["remove it", "retry"] },
    endedAtMs: 2_000,
  });
  t.match(jsonOf(known), {
    state: "OPERATION_STATE_NEEDS_ATTENTION",
    progress: 0,
    doneBytes: "0",
    totalBytes: String(2 ** 40),
    cancelRequested: true,
    error: { code: "INTERNAL", reason: "TOOL_FAILED", message: "lvremove failed" },
    attention: { left: ["the snapshot data-1"], advice: ["remove it", "retry"] },
    endedAt: "1970-01-01T00:00:02Z",
  });
});

test("a result is an object, whatever type the kind returns", async (t) => {
  const resultOf = (result: Operation["result"]) =>
    (jsonOf(operationWith({ state: "completed", result })) as { readonly result?: unknown }).result;
  t.same(resultOf({ id: "backup-1", sizes: [1, 2] }), { id: "backup-1", sizes: [1, 2] });
  t.same(resultOf([1]), { value: [1] });
  t.same(resultOf("text"), { value: "text" });
  t.equal(resultOf(null), undefined);
  t.equal(resultOf(undefined), undefined);
});

test("a command contains how it ended", async (t) => {
  const command = { atMs: 1_000, step: "snapshot", argv: ["lvm", "lvs"], durationMs: 12, host: "host-1" };
  const reported = (end: { exitCode: number | undefined; signal: string | undefined }) =>
    toJson(OperationCommandSchema, create(OperationCommandSchema, commandMessage({ ...command, ...end })));
  const common = {
    at: "1970-01-01T00:00:01Z",
    step: "snapshot",
    command: ["lvm", "lvs"],
    durationMs: "12",
    host: "host-1",
  };
  t.same(reported({ exitCode: 0, signal: undefined }), { ...common, exitCode: 0 });
  t.same(reported({ exitCode: undefined, signal: "SIGKILL" }), { ...common, signal: "SIGKILL" });
});
