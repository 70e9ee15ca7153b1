import { execFile } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Test, test } from "tap";

const script = fileURLToPath(new URL("../../deploy/machine-image.sh", import.meta.url));
const build = (...args: readonly string[]) => promisify(execFile)(script, args);

/** Creates folders of programs and images that are complete except for the files' contents. */
async function makeInput(t: Test) {
  const folder = t.testdir({ images: {}, programs: {} });
  for (const program of ["kubeadm", "kubelet", "kubectl"]) {
    const file = join(folder, "programs", program);
    await writeFile(file, "#!/bin/sh\nexit 1\n");
    await chmod(file, 0o755);
  }
  await writeFile(join(folder, "images/pause.tar"), "");
  const options = ["--binaries", join(folder, "programs"), "--images", join(folder, "images")];
  return { folder, options, output: join(folder, "machine") };
}

test("a machine image is not built without its input, and the message names what is missing", async (t) => {
  const { folder, options, output } = await makeInput(t);
  await t.rejects(build(output), { code: 2, stderr: /^usage: machine-image\.sh/ });
  await t.rejects(build(...options, "--suit", "trixie", output), {
    code: 1,
    stderr: /unknown option --suit/,
  });
  await chmod(join(folder, "programs/kubelet"), 0o644);
  await t.rejects(build(...options, output), {
    code: 1,
    stderr: /programs\/kubelet is missing or not executable/,
  });
  await mkdir(join(folder, "none"));
  const none = [...options.slice(0, 3), join(folder, "none")];
  await chmod(join(folder, "programs/kubelet"), 0o755);
  await t.rejects(build(...none, output), { code: 1, stderr: /none has no image archive/ });
});

test("an existing output is not changed", async (t) => {
  const { options, output } = await makeInput(t);
  await mkdir(output);
  await t.rejects(build(...options, output), { code: 1, stderr: /machine exists/ });
});
