import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Test, test } from "tap";
import { parse as parseYaml } from "yaml";
import { createMaasSandbox } from "../../../adapters/maas/sandbox.ts";
import { renderCloudConfig } from "../../../server/domains/clusters/bootstrap/cloud-config.ts";
import { createKubeadmRenderer } from "../../../server/domains/clusters/bootstrap/kubeadm-renderer.ts";
import { reportedFailure } from "../../../server/domains/clusters/reconcile/reported-failure.ts";
import { cluster, nodeOf, pki, ticket, token } from "../../server/domains/clusters/bootstrap/cluster-plan.ts";

/**
 * Debian's cloud-init and the dependencies needed to read a file. They are unpacked and not installed, because an installed
 * cloud-init would run at the next boot.
 */
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

/**
 * Runs cloud-init's own code as it runs at boot: it writes files below another root, and prints commands with their arguments.
 */
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

interface CloudInit {
  /** Root of the unpacked packages, with its own configuration in `etc/cloud`. */
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  /** Runs Python with cloud-init's code; rejects if it fails. */
  readonly python: (...args: readonly string[]) => Promise<string>;
}

async function unpackCloudInit(t: Test): Promise<CloudInit> {
  const folder = await mkdtemp(join(tmpdir(), "hostplane-cloud-init-"));
  t.teardown(() => rm(folder, { recursive: true }));
  await execute("apt-get", ["download", "-qq", ...packages], { cwd: folder });
  for (const file of await readdir(folder)) {
    await execute("dpkg", ["-x", file, "root"], { cwd: folder });
  }
  const root = join(folder, "root");
  const env = { PATH: process.env.PATH, PYTHONPATH: join(root, "usr/lib/python3/dist-packages") };
  return {
    root,
    env,
    python: async (...args) => (await execute("/usr/bin/python3", args, { env })).stdout,
  };
}

/** An event as cloud-init posts it to MAAS. */
interface StatusMessage {
  readonly name: string;
  readonly origin: string;
  readonly description: string;
  readonly event_type: string;
  readonly result: string;
}

/** Starts the region's endpoint `metadata/status/SYSTEM_ID`, to which cloud-init posts its events one by one. */
async function startStatusEndpoint(t: Test) {
  const posted: { readonly url: string; readonly authorization: string; readonly message: StatusMessage }[] =
    [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = await request.toArray();
    const { url = "", headers } = request;
    const message = JSON.parse(Buffer.concat(chunks).toString());
    posted.push({ url: `${request.method} ${url}`, authorization: headers.authorization ?? "", message });
    response.writeHead(204).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  return { posted, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/MAAS/metadata/status` };
}

test("cloud-init understands the machines' user data", { skip, timeout: 120_000 }, async (t) => {
  const { root: packagesRoot, env, python } = await unpackCloudInit(t);
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

  await t.test("its own schema check accepts all of it", async (t) => {
    for (const text of texts) {
      t.match(await schema(text), /^Valid cloud-config/);
    }
    await t.rejects(
      schema("#cloud-config\nwrite_files:\n  - path: 3\n"),
      "it rejects an invalid configuration",
    );
  });

  await t.test("files and commands have the intended content", async (t) => {
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

  await t.test(
    "a machine that cannot become a node reports that to MAAS through cloud-init's webhook",
    async (t) => {
      const { posted, url } = await startStatusEndpoint(t);
      const maas = await createMaasSandbox();
      t.teardown(() => maas.close());
      const systemId = maas.fake.region.machines()[0]?.systemId ?? "";
      // In MAAS 3.4, curtin writes this file (`maas-reporting` in its preseed).
      const reporting = {
        type: "webhook",
        endpoint: `${url}/${systemId}`,
        consumer_key: "consumer",
        token_key: "token",
        token_secret: "secret",
      };
      const file = "etc/cloud/cloud.cfg.d/90_maas_cloud_init_reporting.cfg";
      await writeFile(
        join(packagesRoot, file),
        `#cloud-config\n${JSON.stringify({ reporting: { maas: reporting } })}\n`,
      );
      const programs = path("programs");
      await mkdir(programs);
      for (const program of ["kubeadm", "kubelet", "systemctl"]) {
        await writeFile(join(programs, program), `#!/bin/sh\n[ ${program} != kubeadm ]\n`);
        await chmod(join(programs, program), 0o755);
      }
      // In a mount namespace, so that the script finds cloud-init's configuration in its usual place.
      const mounted = 'mount --bind "$1" /etc && exec sh "$2" join';
      const script = path("root-0/etc/hostplane/make-node.sh");
      const argv = ["--mount", "sh", "-c", mounted, "sh", join(packagesRoot, "etc"), script];
      const ended = execute("unshare", argv, { env: { ...env, PATH: `${programs}:${env.PATH}` } });
      await t.rejects(ended, { code: 1, stderr: /^hostplane: kubeadm join failed\n/ });
      t.match(posted, [
        {
          url: `POST /MAAS/metadata/status/${systemId}`,
          authorization: /^OAuth .*oauth_token="token"/,
          message: {
            name: "modules-final/hostplane",
            origin: "cloudinit",
            description: "hostplane: kubeadm join failed",
            event_type: "finish",
            result: "FAIL",
          },
        },
      ]);
      t.equal(posted.length, 1);
      // MAAS stores it in this form (`add_event_to_node_event_log` of 3.4.10), and the gateway reads it from there.
      const { origin = "", description = "" } = posted[0]?.message ?? {};
      maas.fake.region.reportFailure(systemId, `'${origin}' ${description}`);
      t.equal(await reportedFailure({ tools: { maas } }, { systemId }), "kubeadm join failed");
    },
  );
});
