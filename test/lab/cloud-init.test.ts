import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Test, test } from "tap";
import { parse as parseYaml } from "yaml";
import { renderCloudConfig } from "../../server/domains/clusters/bootstrap/cloud-config.ts";
import { createKubeadmRenderer } from "../../server/domains/clusters/bootstrap/kubeadm-renderer.ts";
import { cluster, nodeOf, pki, ticket, token } from "../server/domains/clusters/bootstrap/cluster-plan.ts";

/** Debian's cloud-init and what of its dependencies reading a file takes; not installed, since it would do its work at the next start. */
const packages = [
  ...[
    "cloud-init",
    "libyaml-0-2",
    "python3-attr",
    "python3-configobj",
    "python3-jinja2",
    "python3-jsonpatch",
  ],
  ...["python3-json-pointer", "python3-jsonschema", "python3-markupsafe", "python3-oauthlib"],
  ...["python3-pyrsistent", "python3-six", "python3-yaml"],
];
const skip =
  process.env.HOSTPLANE_LAB === "required" ? false : "HOSTPLANE_LAB=required downloads Debian's cloud-init";

/** By cloud-init's own code, as it does at a machine's start: files below another root, and commands as arguments that are printed. */
const applyScript = `
import sys
from cloudinit import util
from cloudinit.config import cc_write_files
root, path = sys.argv[1:]
config = util.load_yaml(util.load_file(path))
files = [{**f, "path": root + f["path"], "owner": "-1:-1"} for f in config["write_files"]]
cc_write_files.write_files("test", files, "-1:-1")
commands = [["printf", "%s\\\\0"] + command + ["end of command"] for command in config["runcmd"]]
util.write_file(root + "/commands", util.shellify(commands), 0o700)
`;

const execute = promisify(execFile);

/** Runs Python with cloud-init's code; rejects when it fails. */
async function unpackCloudInit(t: Test): Promise<(...args: readonly string[]) => Promise<string>> {
  const folder = await mkdtemp(join(tmpdir(), "hostplane-cloud-init-"));
  t.teardown(() => rm(folder, { recursive: true }));
  await execute("apt-get", ["download", "-qq", ...packages], { cwd: folder });
  for (const file of await readdir(folder)) {
    await execute("dpkg", ["-x", file, "root"], { cwd: folder });
  }
  const env = { PATH: process.env.PATH, PYTHONPATH: join(folder, "root/usr/lib/python3/dist-packages") };
  return async (...args) => (await execute("/usr/bin/python3", args, { env })).stdout;
}

test("cloud-init understands what machines are told", { skip, timeout: 120_000 }, async (t) => {
  const python = await unpackCloudInit(t);
  const folder = t.testdir();
  const renderer = createKubeadmRenderer();
  const path = (name: string) => join(folder, name);
  const schema = async (text: string) => {
    await writeFile(path("user-data"), text);
    return python("-m", "cloudinit.config.schema", "--config-file", path("user-data"));
  };
  const texts = ["1.30.14", "1.36.3"]
    .map(nodeOf)
    .flatMap((node) => [
      renderer.renderFirstControlPlane(cluster, node, pki, token),
      renderer.renderControlPlane(cluster, node, pki, ticket),
      renderer.renderWorker(cluster, node, ticket),
    ]);

  await t.test("its own check passes all of it", async (t) => {
    for (const text of texts) {
      t.match(await schema(text), /^Valid cloud-config/);
    }
    await t.rejects(schema("#cloud-config\nwrite_files:\n  - path: 3\n"), "and would not pass anything");
  });

  await t.test("files and commands come out as they were meant", async (t) => {
    const hostile = "'; $(reboot) `x` \"\\ é\u0085\n\t- a: {{ b }}\n";
    texts.push(
      renderCloudConfig(
        [{ path: "/hostile", content: hostile, permissions: "0644" }],
        [["echo", hostile, "", " ", "%s", "-n"], ["last"]],
      ),
    );
    for (const [index, text] of texts.entries()) {
      const root = path(`root-${index}`);
      await mkdir(root);
      await writeFile(path("user-data"), text);
      await python("-c", applyScript, root, path("user-data"));
      const config = parseYaml(text);
      for (const { path: filePath, content, encoding, permissions } of config.write_files) {
        const expected = encoding === "b64" ? Buffer.from(content, "base64").toString() : content;
        t.equal(await readFile(join(root, filePath), "utf8"), expected, filePath);
        t.equal((await stat(join(root, filePath))).mode & 0o777, Number.parseInt(permissions, 8), filePath);
      }
      const { stdout } = await execute(join(root, "commands"));
      const commands: readonly string[][] = config.runcmd;
      t.same(
        stdout,
        commands
          .flatMap((each) => [...each, "end of command"])
          .join("\0")
          .concat("\0"),
      );
    }
    const last = path(`root-${texts.length - 1}`);
    t.equal(await readFile(join(last, "hostile"), "utf8"), hostile);
  });
});
