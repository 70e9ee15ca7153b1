import { type Test, test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { run as runTool } from "../../../../adapters/host/process/run.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { createCountingKind } from "../../operations/counting-kind.ts";
import { createEngine } from "../../operations/engine-under-test.ts";
import { type Data, dataWithStore, stop } from "../data-under-test.ts";
import { openSandboxStore } from "../open-sandbox-store.ts";

/** Writes operations of a kind that no gateway knows to the store of a stopped sandbox. */
async function leaveOperations(t: Test, data: Data) {
  const store = await openSandboxStore(t, data.data);
  const counting = createCountingKind({
    attention: () => ({ left: ["the mark of first"], advice: ["wipe it"] }),
  });
  const engine = createEngine(t, { store, kind: counting.kind });
  counting.before("forward second", () => runTool(["printf", "it's"], { kind: "mutate" }));
  const completed = await engine.start({ resource: "things/a", actor: "user/alice" });
  await engine.end(completed.id);
  counting.before("forward second", () => {
    throw new InfraError(hostReasons.TOOL_FAILED, "the tool\n\u001b[2Jfailed");
  });
  counting.before("undo first", () => {
    throw new InfraError(hostReasons.TOOL_FAILED, "it is stuck");
  });
  const stuck = await engine.start({ resource: "things/b" });
  await engine.end(stuck.id);
  await engine.operations.close();
  const waiting = await engine.start({ resource: "things/a/part" });
  await store.close();
  return { completed: completed.id, stuck: stuck.id, waiting: waiting.id };
}

test("operations are listed, shown, watched, cancelled and retried", async (t) => {
  const data = await dataWithStore(t);
  const { run, refused } = data;
  await stop(await data.serve());
  const { completed, stuck, waiting } = await leaveOperations(t, data);
  const idsOf = (json: string) => JSON.parse(json).map(({ id }: { readonly id: string }) => id);
  t.same(
    idsOf(await run(["operation", "list", "-o", "json"])),
    [waiting, stuck, completed],
    "while no gateway is running",
  );

  const gateway = await data.serve();
  const list = await run(["operation", "list"]);
  const words = "needs-attention: TOOL_FAILED: the tool \ufffd[2Jfailed";
  t.match(list, /^ID +KIND +RESOURCE +REQUESTED +STATE\n/);
  t.match(list, new RegExp(`^${waiting}  test\\.count  things/a/part  20\\S+Z  scheduled`, "m"));
  t.ok(list.includes(words), list);
  t.match(list, new RegExp(`^${completed} .* completed$`, "m"));
  const filters = [
    "--state",
    "completed",
    "--state",
    "scheduled",
    "--kind",
    "test",
    "--resource",
    "things/a",
  ];
  t.same(idsOf(await run(["operation", "list", "-o", "json", ...filters])), [waiting, completed]);
  t.same(idsOf(await run(["operation", "list", "-o", "json", ...filters, "--limit", "1"])), [waiting]);
  t.same(
    idsOf(await run(["operation", "list", "-o", "json", "--actor", "user/alice", "--to", "2020-01-01"])),
    [],
  );

  t.match(
    await run(["operation", "show", stuck]),
    /^state +needs-attention: .*\n(?:.*\n)*left +the mark of first\nto do +wipe it\n\nSTEP .*\nfirst +undo-failed +1 .*it is stuck\nsecond +undone +1 .*the tool.*\nthird +pending +0\n$/m,
  );
  t.match(JSON.parse(await run(["operation", "show", completed, "-o", "json"])), {
    id: completed,
    state: "OPERATION_STATE_COMPLETED",
    result: { outputs: ["made first", "made second", "made third"] },
  });
  t.match(
    await run(["operation", "commands", completed]),
    /^20\S+Z second: exit code 0 after \d+ ms\n {2}printf 'it'\\''s'\n$/,
  );
  t.match(JSON.parse(await run(["operation", "commands", completed, "-o", "json"])), {
    step: "second",
    command: ["printf", "it's"],
    exitCode: 0,
  });

  t.equal(await run(["operation", "watch", completed]), "completed\n");
  t.match(await refused(["operation", "watch", stuck]), { code: 1, stdout: `${words}\n`, stderr: "" });
  const watching = refused(["operation", "watch", waiting, "-o", "json"]);
  t.match(await run(["operation", "retry", stuck]), new RegExp(`^resumed ${stuck}: scheduled`));
  t.match(
    await run(["operation", "cancel", waiting]),
    new RegExp(`^requested cancellation of ${waiting}: cancelled\\n$`),
  );
  const watched = await watching;
  t.equal(watched.code, 1, "it did not complete");
  const [last] = watched.stdout.trim().split("\n").slice(-1);
  t.match(JSON.parse(last ?? ""), {
    operation: { id: waiting, state: "OPERATION_STATE_CANCELLED" },
    cursor: /./,
  });

  const refusals: readonly [readonly string[], number, RegExp][] = [
    [["operation", "cancel", completed], 1, /^hostplane: .+\n$/],
    [["operation", "retry", completed], 1, /^hostplane: .+\n$/],
    [["operation", "show", "none"], 1, /^hostplane: operation none not found\n$/],
    [["operation", "watch", "none"], 1, /operation none not found/],
    [["operation", "show", "a b"], 2, /^hostplane: id: expected an operation ID/],
    [["operation", "list", "--kind", "a.b.c"], 2, /^hostplane: kind: expected/],
    [["operation", "list", "--state", "done"], 2, /Allowed choices are scheduled, /],
    [["operation", "list", "--limit", "0"], 2, /expected a whole number/],
    [["operation", "list", "--from", "yesterday"], 2, /expected a time/],
    [["operation", "show"], 2, /missing required argument 'id'/],
  ];
  for (const [args, code, message] of refusals) {
    const ended = await refused(args);
    t.match(ended, { code, stdout: "" }, args.join(" "));
    t.match(ended.stderr, message);
  }
  const audited = await run(["audit", "export", "--rpc", "hostplane.v1.OperationService/CancelOperation"]);
  t.same(
    audited
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .map(({ operationId, resource, outcome }) => [operationId, resource, outcome]),
    [
      [completed, "things/a", "FAILED_PRECONDITION"],
      [waiting, "things/a/part", "OK"],
    ],
  );
  await stop(gateway);
});
