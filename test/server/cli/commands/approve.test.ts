import { join } from "node:path";
import { type Test, test } from "tap";
import { startPlans } from "../../domains/plan/callers-under-test.ts";
import { onTerminal, skip } from "../on-terminal.ts";
import { runInProcess } from "../run-in-process.ts";

const removeLv = "proto.LVService/RemoveLV";
const web = { name: "sandbox-web" };

/** Starts a sandbox in which a removal needs two approvals, and returns what runs commands as bob and at the admin socket. */
async function start(t: Test) {
  const rules = [{ methods: [removeLv], approvals: 2 }];
  const plans = await startPlans(t, { approvals: { rules } });
  const env = { XDG_CONFIG_HOME: join(plans.data, "config-of-bob") };
  const asBob = (args: readonly string[], input?: string) =>
    runInProcess(args, { env, ...(input === undefined ? {} : { input }) });
  const { code, stderr } = await asBob(["login", plans.url, "--user", "bob"], "an operator of a test\n");
  t.equal(code, 0, stderr);
  const local = ["--data", plans.data, "--sandbox"];
  return { ...plans, env, asBob, local };
}

test("a plan is approved by a prefix of its id, after it was shown", skip, async (t) => {
  const { alice, env, asBob } = await start(t);
  const id = (await alice.call(removeLv, web)).metadata.plan ?? "";
  const listed = await asBob(["plan", "list", "--waiting"]);
  t.match(listed.stdout, new RegExp(`^ID .*APPROVALS.*\\n${id} .*open +0 of 2 +user/alice`, "m"));
  t.match(await asBob(["approve", id.slice(0, 8)]), { code: 2, stderr: /confirm it with --yes\n$/ });
  const no = await onTerminal(["approve", id.slice(0, 8)], [[/Continue\?/, "n\n"]], env);
  t.equal(no.code, 1);
  t.match(no.shown, /user\/alice wants to call proto\.LVService\/RemoveLV with \{"name":"sandbox-web"\}/);
  t.match(no.shown, /LOST: all data on sandbox-vg\/sandbox-web/);
  t.match(no.shown, /not confirmed/);
  const yes = await onTerminal(["approve", id.slice(0, 8)], [[/Continue\?/, "y\n"]], env);
  t.match(yes, { code: 0, shown: new RegExp(`approved the plan ${id}: 1 more approval is missing`) });
  const shown = await asBob(["plan", "show", id]);
  t.match(shown.stdout, /^approvals +1 of 2; user\/bob at 20/m);
});

test("the last approval says who can make the change", async (t) => {
  const { alice, carol, asBob } = await start(t);
  const id = (await alice.call(removeLv, web)).metadata.plan ?? "";
  await carol.approve(id);
  t.match(await asBob(["approve", id, "--yes"]), {
    code: 0,
    stdout: `approved the plan ${id}: user/alice can make the change\n`,
  });
  t.match(await asBob(["approve", id, "--yes", "-o", "name"]), { code: 0, stdout: `${id}\n` });
});

test("the glass is broken at the admin socket", async (t) => {
  const { alice, asBob, local } = await start(t);
  const id = (await alice.call(removeLv, web)).metadata.plan ?? "";
  t.match(await asBob(["approve", id, "--yes", "--break-glass", "urgent"]), {
    code: 1,
    stderr: /role admin/,
  });
  t.match(await runInProcess(["approve", id, "--yes", ...local]), {
    code: 1,
    stderr: /only users can approve it/,
  });
  t.match(await runInProcess(["approve", id, "--yes", "--break-glass", "", ...local]), {
    code: 2,
    stderr: /a reason/,
  });
  t.match(await runInProcess(["approve", id.slice(0, 8), "--yes", "--break-glass", "urgent", ...local]), {
    code: 0,
    stdout: `the plan ${id} of user/alice can be applied; this is in the audit log\n`,
  });
  const shown = await runInProcess(["plan", "show", id, ...local]);
  t.match(shown.stdout, /^approvals +2 of 2; admin-socket at \S+, who broke the glass: "urgent"/m);
  t.equal((await alice.call(removeLv, web)).status, 200);
});
