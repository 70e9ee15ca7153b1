import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { test } from "tap";
import {
  GetOperationResponseSchema,
  OperationCommandSchema,
  OperationSchema,
  OperationState,
  StepState,
} from "../../../../gen/hostplane/v1/operation_pb.ts";
import { commandLines, operationSummary } from "../../../../server/cli/table/operation-text.ts";
import { operationNoun } from "../../../../server/domains/operations/commands.ts";
import { printed } from "../printed.ts";

test("progress is formatted as one line, even if a tool's text contains newlines", async (t) => {
  const summary = (facts: object) => operationSummary(create(OperationSchema, facts));
  t.equal(summary({ state: OperationState.SCHEDULED }), "scheduled");
  t.equal(
    summary({ state: OperationState.SCHEDULED, waitingFor: "2 others run" }),
    "scheduled: 2 others run",
  );
  t.equal(
    summary({ state: OperationState.ACTIVE, progress: 0.429, message: "storing" }),
    "active 42 %: storing",
  );
  t.equal(summary({ state: OperationState.UNDOING, message: "undo of store" }), "undoing: undo of store");
  t.equal(summary({ state: OperationState.COMPLETED, message: "done" }), "completed");
  const error = { code: "INTERNAL", reason: "TOOL_FAILED", message: "a\n  b\u001b[2J" };
  t.equal(summary({ state: OperationState.FAILED, error }), "failed: TOOL_FAILED: a b\ufffd[2J");
  t.equal(summary({ state: OperationState.NEEDS_ATTENTION }), "needs-attention");
  t.equal(summary({ state: 99 }), "99");
});

test("everything known about an operation is printed, and nothing else", async (t) => {
  const operation = create(OperationSchema, {
    id: "operation-1",
    kind: "volumes.backup",
    resource: "volumeGroups/vg0/volumes/data",
    state: OperationState.NEEDS_ATTENTION,
    actor: "user/alice",
    rpc: "proto.LVService/CreateBackup",
    doneBytes: 5n,
    attention: { left: ["the snapshot data-1"], advice: ["remove it", "retry"] },
    createdAt: timestampFromMs(0),
    steps: [
      { name: "snapshot", state: StepState.UNDO_FAILED, attempt: 3, error: "it is\nopen" },
      { name: "store", state: StepState.PENDING },
    ],
  });
  const response = create(GetOperationResponseSchema, { operation });
  t.same((await printed(operationNoun, "show", response)).out, [
    "id        operation-1",
    "kind      volumes.backup",
    "resource  volumeGroups/vg0/volumes/data",
    "state     needs-attention",
    "bytes     5 of ?",
    "requested 1970-01-01T00:00:00.000Z by user/alice, proto.LVService/CreateBackup",
    "cancel    not possible",
    "left      the snapshot data-1",
    "to do     remove it",
    "to do     retry",
    "",
    "STEP      STATE        ATTEMPT  STARTED  ENDED  ERROR",
    "snapshot  undo-failed  3                        it is open",
    "store     pending      0",
  ]);
});

test("a command is printed in shell syntax", async (t) => {
  const lines = (facts: object) =>
    commandLines(create(OperationCommandSchema, { at: timestampFromMs(0), step: "store", ...facts }));
  t.same(lines({ command: ["lvm", "lvs", "-o", "a b", "it's", ""], exitCode: 5, durationMs: 12n }), [
    "1970-01-01T00:00:00.000Z store: exit code 5 after 12 ms",
    "  lvm lvs -o 'a b' 'it'\\''s' ''",
  ]);
  t.match(lines({ signal: "SIGKILL" })[0], /store: SIGKILL after 0 ms$/);
  t.match(lines({})[0], /store: not started/);
});

test("a shell parses a printed command into its original words", async () => {
  const { spawnSync } = await import("node:child_process");
  const words = fc.array(
    fc.string({ minLength: 1 }).filter((word) => !word.includes("\0")),
    { minLength: 1 },
  );
  fc.assert(
    fc.property(words, (command) => {
      const [, line = ""] = commandLines(create(OperationCommandSchema, { command }));
      const { stdout } = spawnSync("sh", ["-c", `printf '%s\\0' ${line}`], { encoding: "utf8" });
      return stdout === `${command.join("\0")}\0`;
    }),
    { numRuns: 50 },
  );
});

test("an operation that has started and cannot continue shows why", async (t) => {
  const waitingFor = "no gateway knows the kind volumes.backup: configure its domain again";
  const stranded = create(OperationSchema, { state: OperationState.ACTIVE, message: "storing", waitingFor });
  t.equal(operationSummary(stranded), `active: waiting: ${waitingFor}`);
  const message = "cancelled, but no gateway supports the operation kind volumes.backup";
  const left = create(OperationSchema, { state: OperationState.NEEDS_ATTENTION, message });
  t.equal(operationSummary(left), `needs-attention: ${message}`);
});
