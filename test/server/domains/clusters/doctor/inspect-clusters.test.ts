import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { type Test, test } from "tap";
import { createMaasSandbox, type MaasSandboxOptions } from "../../../../../adapters/maas/sandbox.ts";
import { createWorkload } from "../../../../../adapters/workload/workload.ts";
import type { ClustersConfig } from "../../../../../server/domains/clusters/config.ts";
import { createClustersInspector } from "../../../../../server/domains/clusters/doctor/inspect-clusters.ts";
import { clusterSettingsFrom } from "../../../../../server/domains/clusters/system/open-real.ts";
import { clusterSystem } from "../../../../../server/domains/clusters/system/system.ts";
import { configSchema } from "../../../../../server/gateway/config/schema.ts";

function configOf(t: Test, other: object = {}): ClustersConfig {
  const dir = t.testdir({ "maas.key": "a:b:c\n", "cni.yaml": "kind: Namespace\n" });
  const maas = { url: "http://127.0.0.1:9/MAAS", apiKeyFile: join(dir, "maas.key") };
  const { clusters } = configSchema.parse({ clusters: { maas, cni: { path: "/opt/cni.yaml" }, ...other } });
  if (clusters === undefined) {
    throw new TypeError("clusters must be configured");
  }
  return clusters;
}

/** Returns doctor's findings about a sandbox MAAS. */
async function findingsOf(config: ClustersConfig, options: MaasSandboxOptions = {}) {
  await chmod(config.maas.apiKeyFile, 0o600);
  const open = async () =>
    clusterSystem(
      await createMaasSandbox(options),
      createWorkload(),
      clusterSettingsFrom(config, { path: "/opt/cni.yaml" }),
    );
  return (await createClustersInspector(config, open).inspect()).findings;
}

test("doctor reports the account, images, tags and addresses of a complete MAAS", async (t) => {
  const endpoint = { addresses: ["10.20.0.220-10.20.0.221"], kubeVipImage: "kube-vip:v1" };
  const ranges = [{ type: "reserved", first: 220, last: 221 } as const];
  const findings = await findingsOf(configOf(t, { endpoint, machines: { pool: "kube" } }), { ranges });
  t.same(
    findings.filter(({ ok }) => !ok),
    [],
  );
  const words = findings.map(({ what }) => what).join("\n");
  for (const expected of [
    /^the API key in .*maas\.key is protected from other users$/m,
    /is accessible as sandbox, not an administrator/,
    /^images for standard machines: Kubernetes 1\.34\.8, 1\.35\.4, 1\.36\.3$/m,
    /^images for gpu machines: /m,
    /^MAAS has the tag standard$/m,
    /^resource pool kube found in MAAS$/m,
    /^cluster addresses: 2; reserved in MAAS by the gateway: 0$/m,
    /^the cluster addresses 10\.20\.0\.220-10\.20\.0\.221 .* reserved range 10\.20\.0\.220-10\.20\.0\.221 of the managed subnet 10\.20\.0\.0\/24, which MAAS does not assign to machines$/m,
    /^the CNI manifest is part of the machine images \(\/opt\/cni\.yaml\)$/m,
  ]) {
    t.match(words, expected);
  }
});

test("doctor reports missing images, and images ignored because of their names", async (t) => {
  const images = [
    { name: "ubuntu/noble", type: "Synced" },
    { name: "k8s-1.36.3-standard", type: "Uploaded" },
  ] as const;
  const findings = await findingsOf(configOf(t, { machines: { pool: "nowhere" } }), { images });
  t.match(
    findings.filter(({ ok }) => !ok),
    [
      { what: /no Kubernetes image for standard/, fix: /os=ubuntu-noble,k8s=1\.36\.3,standard/ },
      { what: /^image k8s-1\.36\.3-standard .* is ignored/, fix: /a name such as/ },
      {
        what: /^resource pool nowhere not found/,
        fix: /clusters\.machines\.pool \(available: default, kube/,
      },
    ],
  );
  t.match(
    findings.filter(({ what }) => /no cluster addresses/.test(what)),
    [{ ok: true }],
  );
});

test("doctor reports which cluster addresses MAAS may assign to machines, and the fix", async (t) => {
  const findingOf = async (addresses: readonly string[], maas: MaasSandboxOptions = {}) => {
    const endpoint = { addresses, kubeVipImage: "kube-vip:v1" };
    const findings = await findingsOf(configOf(t, { endpoint }), maas);
    return findings.filter(({ what }) => /addresses 10\.|addresses 192\./.test(what));
  };
  t.match(await findingOf(["10.20.0.200-10.20.0.203"]), [
    {
      ok: false,
      what: /may assign the cluster addresses 10\.20\.0\.200-10\.20\.0\.203 to machines/,
      fix: "maas PROFILE ipranges create type=reserved subnet=10.20.0.0/24 start_ip=10.20.0.200 end_ip=10.20.0.203",
    },
  ]);
  const reserve = "maas PROFILE ipranges create type=reserved subnet=10.20.0.0/24";
  t.match(await findingOf(["10.20.0.200-10.20.0.203", "10.20.0.207"]), [
    {
      ok: false,
      what: /the cluster addresses 10\.20\.0\.200-10\.20\.0\.203, 10\.20\.0\.207 to machines/,
      fix: `${reserve} start_ip=10.20.0.200 end_ip=10.20.0.203 && ${reserve} start_ip=10.20.0.207 end_ip=10.20.0.207`,
    },
  ]);
  t.match(await findingOf(["10.20.0.200"], { isManaged: false }), [
    { ok: true, what: /does not assign them/ },
  ]);
  const ranges = [{ type: "reserved", first: 200, last: 210 } as const];
  t.match(await findingOf(["10.20.0.200"], { isManaged: false, ranges }), [
    {
      ok: false,
      what: /reserved range .* of the unmanaged subnet .*, from which MAAS assigns/,
      fix: /other/,
    },
  ]);
  t.match(await findingOf(["10.20.0.241", "192.0.2.7"]), [
    { ok: false, what: /10\.20\.0\.241 .* dynamic range/ },
    { ok: false, what: /no subnet for the cluster addresses 192\.0\.2\.7/ },
  ]);
});

test("doctor reports how to protect the API key, and continues when a file is missing or MAAS is unreachable", async (t) => {
  const config = configOf(t);
  await chmod(config.maas.apiKeyFile, 0o644);
  const away = await createClustersInspector(config).inspect();
  t.match(away.findings, [
    { ok: false, what: /can be read or changed by every user/, fix: /^chmod 600 / },
    { ok: false, what: /./, fix: /clusters\.maas\.url/ },
    { ok: true },
  ]);
  const missing = configOf(t, { cni: { manifest: "/nowhere/cni.yaml" } });
  await chmod(missing.maas.apiKeyFile, 0o600);
  t.match(await createClustersInspector(missing).inspect(), {
    findings: [{ ok: false, what: /^clusters\.cni\.manifest: \/nowhere\/cni\.yaml cannot be read/ }],
  });
});
