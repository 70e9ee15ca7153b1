import { stat } from "node:fs/promises";
import type { MaasAdapter } from "../../../../adapters/maas/adapter.ts";
import type { Finding, Inspector } from "../../../domain/inspection.ts";
import { messageFromError } from "../../../domain/message-from-error.ts";
import { clusterImageFrom } from "../bootstrap/image-name.ts";
import { instanceTypes } from "../bootstrap/instance-type.ts";
import { formatKubernetesVersion } from "../bootstrap/kubernetes-version.ts";
import type { ClustersConfig } from "../config.ts";
import { offeredImagesFrom } from "../specs/cluster-images.ts";
import type { ClusterSettings } from "../specs/cluster-settings.ts";
import { openRealClusters } from "../system/open-real.ts";
import type { ClusterSystem } from "../system/system.ts";
import { inspectEndpoints } from "./inspect-endpoints.ts";

/** Checks MAAS and what clusters need from it and from this host: correctly named images, tags, addresses and files. */
export function createClustersInspector(
  config: ClustersConfig,
  open: (config: ClustersConfig) => Promise<ClusterSystem> = openRealClusters,
): Inspector {
  return {
    name: "clusters",
    async inspect() {
      const ofKey = await inspectKeyFile(config.maas.apiKeyFile);
      let system: ClusterSystem;
      try {
        system = await open(config);
      } catch (error) {
        return { findings: [...ofKey.filter(({ ok }) => !ok), { ok: false, what: messageFromError(error) }] };
      }
      try {
        const { maas, settings } = system;
        const { findings } = await maas.inspect();
        // Without access every further check would fail for the same reason.
        const ofMaas = findings.every(({ ok }) => ok) ? await inspectMaas(maas, settings) : [];
        return { findings: [...ofKey, ...findings, ...ofMaas, ...inspectSettings(config)] };
      } finally {
        await system.close();
      }
    },
  };
}

async function inspectKeyFile(file: string): Promise<Finding[]> {
  try {
    const { mode } = await stat(file);
    return (mode & 0o007) === 0
      ? [{ ok: true, what: `the API key in ${file} is protected from other users` }]
      : [
          {
            ok: false,
            what: `the API key in ${file} can be read or changed by every user of this host`,
            fix: `chmod 600 ${file}`,
          },
        ];
  } catch {
    // A failed read is reported when the key is loaded.
    return [];
  }
}

async function inspectMaas(maas: MaasAdapter, settings: ClusterSettings): Promise<Finding[]> {
  try {
    const [images, tags, pools, reserved, subnets, ranges] = await Promise.all([
      maas.images(),
      maas.tags(),
      maas.pools(),
      maas.addresses(),
      maas.subnets(),
      maas.addressRanges(),
    ]);
    const uploaded = images.filter(({ kind }) => kind === "uploaded").map(({ name }) => name);
    return [
      ...inspectImages([...new Set(uploaded)]),
      ...inspectTags(tags),
      ...inspectPool(
        pools.map(({ name }) => name),
        settings.machines.pool,
      ),
      ...inspectEndpoints({ endpoints: settings.endpoints, reserved, subnets, ranges }),
    ];
  } catch (error) {
    return [{ ok: false, what: messageFromError(error) }];
  }
}

function inspectImages(names: readonly string[]): Finding[] {
  const offered = offeredImagesFrom(names);
  const ofTypes = instanceTypes.map((type): Finding => {
    const versions = offered.versionsOf(type).map(formatKubernetesVersion);
    return versions.length > 0
      ? { ok: true, what: `images for ${type} machines: Kubernetes ${versions.join(", ")}` }
      : {
          // GPU machines are optional.
          ok: type !== "standard",
          what: `MAAS has no Kubernetes image for ${type} machines`,
          ...(type === "standard"
            ? {
                fix: `upload one to MAAS with the name os=ubuntu-noble,k8s=1.36.3,${type} (docs/reference/domains/maas-images.md)`,
              }
            : {}),
        };
  });
  const misnamed = names.filter((name) => /k8s|kube/i.test(name) && clusterImageFrom(name) === undefined);
  return [
    ...ofTypes,
    ...misnamed.map(
      (name): Finding => ({
        ok: false,
        what: `image ${name} looks like a cluster image but is ignored because of its name`,
        fix: "give it a name such as os=ubuntu-noble,k8s=1.36.3,standard (docs/reference/domains/maas-images.md)",
      }),
    ),
  ];
}

function inspectTags(tags: readonly string[]): Finding[] {
  const missing = instanceTypes.filter((type) => !tags.includes(type));
  return instanceTypes.map((type): Finding => {
    if (!missing.includes(type)) {
      return { ok: true, what: `MAAS has the tag ${type}` };
    }
    return type === "standard"
      ? {
          ok: false,
          what: "MAAS has no tag standard, which is needed to select machines",
          fix: "maas PROFILE tags create name=standard && maas PROFILE tag update-nodes standard add=SYSTEM_ID",
        }
      : { ok: true, what: `MAAS has no tag ${type}, so no cluster can have such machines` };
  });
}

function inspectPool(names: readonly string[], pool: string | undefined): Finding[] {
  if (pool === undefined) {
    return [];
  }
  return [
    names.includes(pool)
      ? { ok: true, what: `resource pool ${pool} found in MAAS` }
      : {
          ok: false,
          what: `resource pool ${pool} not found in MAAS, or not visible to the gateway`,
          fix: `correct clusters.machines.pool (available: ${names.join(", ") || "none"})`,
        },
  ];
}

/** Reports the settings that were already validated when the system was created. */
function inspectSettings({ cni }: ClustersConfig): Finding[] {
  return [
    cni.manifest === undefined
      ? { ok: true, what: `the CNI manifest is part of the machine images (${cni.path})` }
      : { ok: true, what: `the CNI manifest is ${cni.manifest}` },
  ];
}
