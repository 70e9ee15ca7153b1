import { test } from "tap";
import { dataWithStore, stop } from "../data-under-test.ts";

test("hypervisors are listed, created and destroyed", async (t) => {
  const data = await dataWithStore(t);
  const { run, refused } = data;
  const gateway = await data.serve();

  const list = await run(["hypervisor", "list"]);
  t.match(list, /^ID +STATE +THREADS +RAM \(MiB\) +CAPABILITIES +GPUS *\n/);
  t.match(list, /^sandbox-hv-1 +running +8 +16384 +storage *$/m);
  t.match(list, /^sandbox-hv-4 +off +8 +16384 +storage, gpu +Sandbox Graphics SG-1$/m);
  t.match(JSON.parse(await run(["hypervisor", "list", "-o", "json"])), [
    { id: "sandbox-hv-1", cpu: 8, state: "HYPERVISOR_STATE_AVAILABLE_TO_DESTROY", gpus: [] },
  ]);

  const created = await run(["hypervisor", "create", "sandbox-hv-2"]);
  t.match(created, /^operation [\w-]+\nscheduled: .*\n(active: .*\n)+completed: sandbox-hv-2 was created\n$/);
  const destroyed = await run([
    "hypervisor",
    "destroy",
    "sandbox-hv-1",
    "sandbox-hv-2",
    "-o",
    "json",
    "--yes",
  ]);
  const messages = destroyed
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  t.same(messages.at(-1), { state: "OPERATION_STATE_COMPLETED", msg: "all 2 are done" });
  t.match(messages[0], { state: "OPERATION_STATE_ACTIVE", msg: /^sandbox-hv-[12]: / });

  const refusals: readonly (readonly [readonly string[], number, RegExp])[] = [
    [["hypervisor", "create", "none"], 1, /^hostplane: hypervisor "none" not found\n$/],
    [["hypervisor", "create", "a b"], 2, /^hostplane: id: /],
    [["hypervisor", "create"], 2, /missing required argument 'ids'/],
    [["hypervisor", "destroy", "sandbox-old-1", "--yes"], 1, /sandbox-old-1 is already off/],
    [["hypervisor", "destroy", "sandbox-hv-3", "sandbox-hv-3", "--yes"], 2, /^hostplane: ids\[1\]: /],
  ];
  for (const [args, code, words] of refusals) {
    const ended = await refused(args);
    t.match(ended, { code, stdout: "" }, args.join(" "));
    t.match(ended.stderr, words);
  }
  await stop(gateway);
  t.match(await refused(["hypervisor", "list"]), {
    code: 1,
    stderr: /no gateway is running .* this command needs one/,
  });
});
