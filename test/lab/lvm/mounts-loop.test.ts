import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { test } from "tap";
import { makeLoopVolumeGroups, reasonToSkip } from "./loop-volume-group.ts";

const skip = (await reasonToSkip()) ?? false;

test("file systems and mounts are what the kernel and its tools make of them", { skip }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-mounts-"));
  t.teardown(() => rm(directory, { recursive: true }));
  const { spares } = await makeLoopVolumeGroups(t, 0, 5, 1);
  const program = fileURLToPath(new URL("mounts-on-loop.ts", import.meta.url));
  await promisify(execFile)("unshare", [
    ...["--mount", "--pid", "--fork", "--mount-proc", process.execPath, program],
    ...[...spares, directory],
  ]);
  t.pass("every check has passed");
});
