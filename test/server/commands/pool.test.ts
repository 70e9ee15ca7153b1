import { InvalidArgumentError } from "commander";
import fc from "fast-check";
import { test } from "tap";
import { parseSize } from "../../../server/commands/parse-size.ts";
import { dataWithStore, stop } from "./data-under-test.ts";

test("the pool is shown, expanded, shrunk and backed up", { timeout: 300_000 }, async (t) => {
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
  t.match(JSON.parse(await run(["pool", "show", "--json"])), {
    name: "sandbox-pool",
    kind: "STORAGE_POOL_KIND_VOLUME_GROUP",
    sizeBytes: "68719476736",
    devices: [{ path: "/dev/sandbox/pool-a", configured: true }],
  });

  const grown = await run(["pool", "expand", "1GiB", "--wait"]);
  t.match(grown, /^completed$/m);
  t.match(await run(["pool", "show"]), /: 65 GiB /);
  const begun = JSON.parse(await run(["pool", "shrink", "1.5 GiB", "--json"]));
  t.match(begun, { kind: "storagePool.shrink", resource: "storagePool" });
  t.match(await run(["operation", "watch", begun.id]), /^completed$/m);
  t.match(await run(["pool", "show"]), /: 64 GiB /);

  t.match(await run(["pool", "backup", "--wait"]), /^completed$/m);
  const listed = await run(["backup", "list"]);
  t.match(listed, /pool-\d{8}T\d{6}Z +storagePool\/volumes\/sandbox-images .*\/sandbox\/pool-backups/);

  const refusals: readonly (readonly [readonly string[], number, RegExp])[] = [
    [["pool", "expand", "34GiB"], 1, /^hostplane: the spare devices of sandbox-pool give 33 GiB /],
    [["pool", "shrink", "1GiB"], 1, /^hostplane: no device of sandbox-pool can go: /],
    [["pool", "expand", "0"], 2, /expected a size above 0/],
    [["pool", "expand", "ten"], 2, /expected a size such as 10GiB/],
  ];
  for (const [args, code, words] of refusals) {
    const ended = await refused(args);
    t.match(ended, { code, stdout: "" }, args.join(" "));
    t.match(ended.stderr, words);
  }
  await stop(gateway);
  t.match(await refused(["pool", "show"]), {
    code: 1,
    stderr: /no gateway runs .* this needs one that does/,
  });
});

test("sizes are bytes, or a number with a unit", async (t) => {
  t.equal(parseSize("1"), 1n);
  t.equal(parseSize("10GiB"), 10n << 30n);
  t.equal(parseSize("1.5 TiB"), 3n << 39n);
  t.equal(parseSize("0.5KiB"), 512n);
  for (const text of ["", "0", "-1", "1.5", "1GB", "1 G", "9999999TiB", "1e3", "0x10", "1KiBx"]) {
    t.throws(() => parseSize(text), InvalidArgumentError, text);
  }
  fc.assert(
    fc.property(fc.string(), (text) => {
      try {
        return parseSize(text) > 0n;
      } catch (error) {
        return error instanceof InvalidArgumentError;
      }
    }),
  );
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 8_000_000n }), (tebibytes) => {
      return parseSize(`${tebibytes}TiB`) === tebibytes << 40n;
    }),
  );
});
