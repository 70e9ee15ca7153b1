import { statfs } from "node:fs/promises";
import { test } from "tap";
import { createDirectoryPool } from "../../../../../server/domains/hypervisors/pool/directory-pool.ts";
import { reasonOf } from "../../../../adapters/host/reason-of.ts";

test("a directory pool has the size of its file system, and cannot be resized", async (t) => {
  const directory = t.testdir();
  const pool = createDirectoryPool({ directory });
  const { value } = await pool.read();
  const { blocks, bsize } = await statfs(directory, { bigint: true });
  t.match(value, { name: directory, kind: "directory", sizeBytes: blocks * bsize, devices: [], spares: [] });
  t.ok(value.freeBytes > 0n && value.usedBytes + value.freeBytes <= value.sizeBytes);
  t.equal(await reasonOf(pool.planExpand(1n)), "POOL_FIXED");
  t.equal(await reasonOf(pool.planShrink(1n)), "POOL_FIXED");
});

test("a missing directory is reported", async (t) => {
  const pool = createDirectoryPool({ directory: `${t.testdir()}/absent` });
  t.equal(await reasonOf(pool.read()), "STORAGE_POOL_NOT_FOUND");
});
