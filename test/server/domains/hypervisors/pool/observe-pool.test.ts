import { test } from "tap";
import { tellPool } from "../../../../../server/domains/hypervisors/pool/observe-pool.ts";
import { createPool, createPoolLvm, gib } from "./pool-under-test.ts";

test("a change of size or devices is told, and what is used is not", async (t) => {
  const lvm = createPoolLvm();
  const pool = createPool(lvm);
  const origin = { host: "alpha", operationId: "op-1" };
  const state = async () => (await pool.read(undefined, performance.now())).value;
  const first = tellPool(undefined, await state(), origin);
  t.strictSame(first.events, []);

  await lvm.run({ kind: "create", volumeGroupName: "pool", name: "more", sizeBytes: gib, tags: [] });
  const second = tellPool(first.observed, await state(), origin);
  t.strictSame(second.events, []);

  await pool.add((await state()).identity, ["/dev/sandbox/b", "/dev/sandbox/d"]);
  const third = tellPool(second.observed, await state(), origin);
  t.match(third.events, [
    {
      topic: "hypervisors",
      type: "storagePool.changed",
      resource: "storagePool",
      host: "alpha",
      operationId: "op-1",
      payload: {
        storagePool: {
          name: "pool",
          sizeBytes: String(25n * gib),
          previousSizeBytes: String(10n * gib),
          added: ["/dev/sandbox/b", "/dev/sandbox/d"],
          removed: [],
        },
      },
    },
  ]);
  t.strictSame(tellPool(third.observed, await state(), origin).events, []);
  t.strictSame(tellPool({ ...first.observed, identity: "another" }, await state(), origin).events, []);
});
