import { join } from "node:path";
import { type Test, test } from "tap";
import { createMaasSandbox } from "../../../../../adapters/maas/sandbox.ts";
import type { ClustersConfig } from "../../../../../server/domains/clusters/config.ts";
import {
  clusterSettingsFrom,
  openRealClusters,
} from "../../../../../server/domains/clusters/system/open-real.ts";
import {
  bootedMachinesOf,
  openSandboxClusters,
} from "../../../../../server/domains/clusters/system/open-sandbox.ts";
import { configSchema } from "../../../../../server/gateway/config/schema.ts";

const key = "consumer:token:thesecretitself";

function configOf(t: Test, files: Readonly<Record<string, string>>, other: object = {}): ClustersConfig {
  const dir = t.testdir(files);
  const clusters = {
    maas: { url: "http://maas.invalid:5240/MAAS/", apiKeyFile: join(dir, "maas.key") },
    cni: { manifest: join(dir, "cni.yaml") },
    ...other,
  };
  const parsed = configSchema.parse({ clusters }).clusters;
  if (parsed === undefined) {
    throw new TypeError("it is there");
  }
  return parsed;
}

test("the configuration is converted to cluster settings: times in milliseconds, ranges as addresses", async (t) => {
  const config = configOf(
    t,
    { "maas.key": `${key}\n`, "cni.yaml": "kind: Namespace\n" },
    {
      endpoint: { addresses: ["10.20.0.200-10.20.0.202", "10.20.0.9"], kubeVipImage: "kube-vip:v1" },
      machines: { pool: "kube", minCpuCount: 8, minMemoryMib: 1024 },
      drainTimeoutMinutes: 1,
      pollSeconds: 0.5,
      leaseSeconds: 4,
    },
  );
  const system = await openRealClusters(config);
  t.match(system, {
    maas: { kind: "real", url: "http://maas.invalid:5240/MAAS" },
    workload: { kind: "real" },
    settings: {
      endpoints: ["10.20.0.200", "10.20.0.201", "10.20.0.202", "10.20.0.9"],
      kubeVipImage: "kube-vip:v1",
      cni: { manifest: "kind: Namespace\n" },
      imageRepository: undefined,
      machines: { pool: "kube", cpuCount: 8, memoryMib: 1024 },
      deployTimeoutMs: 45 * 60_000,
      joinTimeoutMs: 20 * 60_000,
      drainTimeoutMs: 60_000,
      pollMs: 500,
      watchMs: 3_000,
      sweepMs: 15_000,
      firstSweepMs: 0,
      leaseMs: 4_000,
    },
  });
  await system.close();
  t.match(clusterSettingsFrom(configOf(t, {}), { path: "/opt/cni.yaml" }), {
    endpoints: [],
    kubeVipImage: undefined,
    cni: { path: "/opt/cni.yaml" },
    machines: {},
  });
});

test("a missing or invalid file is reported with its key, and a wrong API key is not shown", async (t) => {
  const cni = { "cni.yaml": "kind: Namespace\n" };
  await t.rejects(
    openRealClusters(configOf(t, cni)),
    /^clusters\.maas\.apiKeyFile: .*maas\.key cannot be read: ENOENT/,
  );
  const wrong = await openRealClusters(configOf(t, { ...cni, "maas.key": "thesecretitself" })).catch(String);
  t.match(wrong, /clusters\.maas\.apiKeyFile: must be three parts/);
  t.notMatch(wrong, /thesecretitself/);
  const withKey = { "maas.key": key };
  await t.rejects(openRealClusters(configOf(t, withKey)), /clusters\.cni\.manifest: .*cannot be read/);
  await t.rejects(
    openRealClusters(configOf(t, { ...withKey, "cni.yaml": "kind: {\n" })),
    /clusters\.cni\.manifest: .*cni\.yaml is not valid YAML: /,
  );
  await t.rejects(openRealClusters(configOf(t, { ...withKey, "cni.yaml": "\n" })), /is empty or longer/);
});

test("the sandbox's MAAS is created on first use", async (t) => {
  const { maas, workload, settings, close } = openSandboxClusters();
  t.equal(
    settings.kubeconfigHost?.("prod"),
    "prod.sandbox.invalid",
    "kubeconfigs do not refer to real hosts",
  );
  t.match({ maas, workload }, { maas: { kind: "sandbox" }, workload: { kind: "sandbox" } });
  t.match(await maas.version(), { version: "3.4.10" });
  t.equal(await maas.reserveAddress({ address: settings.endpoints[0] ?? "" }), settings.endpoints[0]);
  await close();
});

test("only deployed machines with user data are booted, each with its version of Kubernetes", async (t) => {
  const maas = await createMaasSandbox({ deployMs: 0 });
  t.teardown(() => maas.close());
  const { region } = maas.fake;
  t.same(bootedMachinesOf(region), []);
  for (const systemId of ["sbxaaa", "sbxbbb"]) {
    await maas.allocate({ systemId, agentName: `kaas/x/${systemId}` });
  }
  const series = "os=ubuntu-noble,k8s=1.35.4,standard";
  await maas.deploy("sbxaaa", { series, userData: "#cloud-config\n" });
  await maas.deploy("sbxbbb", { series });
  t.match(bootedMachinesOf(region), [
    {
      systemId: "sbxaaa",
      hostname: "sandbox-node-1",
      address: /^10\.20\.0\./,
      userData: "#cloud-config\n",
      version: "1.35.4",
    },
  ]);
  t.equal(bootedMachinesOf(region).length, 1);
  await maas.release("sbxaaa");
  t.same(bootedMachinesOf(region), []);
});
