import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tap, { test } from "tap";
import { startMaasFake } from "../../../adapters/maas/fake/server.ts";
import { systemTool } from "../foreign-tool.ts";
import { runTool } from "../tool-process.ts";

tap.setTimeout(900_000);
const { skip } = await systemTool("go");

const machines = ["abcdef", "bcdefg", "cdefgh"].map((systemId, index) => {
  const tags = index === 2 ? ["gpu", "standard"] : ["standard"];
  return { systemId, hostname: `sandbox-${index}`, tags, pool: "kube" };
});

test("the client libraries of Juju and Terraform accept the fake as a MAAS", { skip }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-"));
  t.teardown(() => rm(directory, { recursive: true }));
  const program = join(directory, "maas-clients");
  const build = { cwd: import.meta.dirname, timeoutMs: 900_000 };
  t.match(await runTool("go", ["build", "-o", program, "."], build), { code: 0 });

  const fake = await startMaasFake({
    users: [
      { username: "me", isAdmin: false, apiKey: { consumer: "consumer", token: "token", secret: "secret" } },
    ],
    machines,
    images: [
      { name: "ubuntu/jammy", type: "Synced" },
      { name: "os=ubuntu-noble,k8s=1.36.3,standard", type: "Uploaded" },
    ],
    tags: ["gpu", "standard"],
    pools: ["default", "kube"],
    zones: ["default"],
    deployMs: Number.POSITIVE_INFINITY,
    releaseMs: 0,
    eraseMs: 0,
  });
  t.teardown(() => fake.close());
  const { stdout, stderr } = await runTool(program, [fake.url, "consumer:token:secret"]);
  t.equal(stderr, "");
  const reported = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  t.same(
    reported.filter(({ error }) => error !== undefined),
    [],
  );
  const results = Object.fromEntries(reported.map(({ step, result }) => [step, result]));
  t.match(results, {
    "juju zones": 1,
    "juju tags": 2,
    "juju domains": 1,
    "juju images": 2,
    "juju machines": 3,
    "juju no match": true,
    "juju owner data": { kept: "yes" },
    "juju start": "Deploying",
    "juju start twice": true,
    "juju addresses": ["10.20.0.2"],
    "juju release unknown": true,
    "terraform whoami": "me",
    "terraform pools": 2,
    "terraform allocate": "me",
    "terraform deploy": "Deploying",
    "terraform get": ["10.20.0.2"],
    "terraform lock": true,
    "terraform release locked": true,
    "terraform unlock": false,
    "terraform released": "Ready",
    "terraform events": 2,
    "terraform reserve": "10.20.0.2",
    "wrong key": true,
  });
  t.ok("terraform give back" in results);
});
