import { test } from "tap";
import { dataWithStore, stop } from "../data-under-test.ts";
import { hostplane } from "../run-hostplane.ts";

test("the pool is shown, expanded, shrunk and backed up", async (t) => {
  const data = await dataWithStore(t);
  const { run, refused } = data;
  const gateway = await data.serve();

  const shown = await run(["pool", "show"]);
  t.match(
    shown,
    /^volume group sandbox-pool: 64 GiB \(68719476736 bytes\), used 40 GiB \(\d+ bytes\), free 24 GiB \(\d+ bytes\)\nDEVICE +BYTES +USED +STATE\n/,
  );
  t.match(shown, /^\/dev\/sandbox\/pool-a +68719476736 +42949672960 +in the pool$/m);
  t.match(shown, /^\/dev\/sandbox\/pool-b +\d+ +spare$/m);
  t.match(JSON.parse(await run(["pool", "show", "-o", "json"])), {
    name: "sandbox-pool",
    kind: "STORAGE_POOL_KIND_VOLUME_GROUP",
    sizeBytes: "68719476736",
    devices: [{ path: "/dev/sandbox/pool-a", configured: true }],
  });

  const grown = await run(["pool", "expand", "1GiB", "--wait"]);
  t.match(grown, /^completed$/m);
  t.match(await run(["pool", "show"]), /: 65 GiB /);
  const started = JSON.parse(await run(["pool", "shrink", "1.5 GiB", "-o", "json"]));
  t.match(started, { kind: "storagePool.shrink", resource: "storagePool" });
  t.match(await run(["operation", "watch", started.id]), /^completed$/m);
  t.match(await run(["pool", "show"]), /: 64 GiB /);

  t.match(await run(["pool", "backup", "--wait"]), /^completed$/m);
  const listed = await run(["backup", "list"]);
  t.match(listed, /pool-\d{8}T\d{6}Z +storagePool\/volumes\/sandbox-images .*\/sandbox\/pool-backups/);

  const refusals: readonly (readonly [readonly string[], number, RegExp])[] = [
    [["pool", "expand", "34GiB"], 1, /^hostplane: the spare devices of sandbox-pool provide 33 GiB /],
    [["pool", "shrink", "1GiB"], 1, /^hostplane: no device of sandbox-pool can be removed: /],
    [["pool", "expand", "0GiB"], 2, /expected a size above 0/],
    [["pool", "expand", "5"], 2, /expected a number with a unit \(B, KiB, MiB, GiB, TiB\), such as 10GiB/],
    [["pool", "shrink", "5"], 2, /expected a number with a unit/],
    [["pool", "expand", "ten"], 2, /expected a number with a unit/],
  ];
  for (const [args, code, words] of refusals) {
    const ended = await refused(args);
    t.match(ended, { code, stdout: "" }, args.join(" "));
    t.match(ended.stderr, words);
  }
  t.match(await hostplane(["pool", "show", "--data", data.data]), {
    code: 1,
    stderr:
      /no gateway is running .* needs one; a sandbox is running with the data in .*\/sandbox: add --sandbox to use it/,
  });
  await stop(gateway);
  t.match(await refused(["pool", "show"]), {
    code: 1,
    stderr: /no gateway is running .* this command needs one/,
  });
});
