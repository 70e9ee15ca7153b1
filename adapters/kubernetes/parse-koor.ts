import { z } from "zod";
import type { KoorClusterObject } from "./adapter.ts";
import { metadata, orElse, orUndefined, text } from "./parse-objects.ts";

// Defaults of the definition. API servers fill them in, but older definitions do not have them.
const trueByDefault = orElse(z.boolean(), true);
const defaultUpgrades = { mode: "notify", endpoint: "https://versions.koor.tech", schedule: "0 0 * * *" };

/** A quantity, which Kubernetes also accepts as a number. */
const quantity = orElse(z.union([z.string(), z.number().transform(String)]), "");

const productVersion = z.object({
  version: text,
  imageUri: text,
  imageHash: text,
  helmRepository: text,
  helmChart: text,
});

const koorStatus = z.object({
  totalResources: orUndefined(
    z
      .object({ nodesCount: quantity, storage: quantity, cpu: quantity, memory: quantity })
      .transform(({ nodesCount, ...rest }) => ({ nodes: nodesCount, ...rest })),
  ),
  meetsMinimumResources: orElse(z.boolean(), false),
  currentVersions: orUndefined(z.object({ kube: text, koorOperator: text, ksd: text, ceph: text })),
  latestVersions: orUndefined(
    z.object({
      koorOperator: orUndefined(productVersion),
      ksd: orUndefined(productVersion),
      ceph: orUndefined(productVersion),
    }),
  ),
});

const koorSpec = z.object({
  useAllDevices: trueByDefault,
  monitoringEnabled: trueByDefault,
  dashboardEnabled: trueByDefault,
  toolboxEnabled: trueByDefault,
  upgradeOptions: orElse(
    z.object({
      mode: orElse(z.string(), defaultUpgrades.mode),
      endpoint: orElse(z.string(), defaultUpgrades.endpoint),
      schedule: orElse(z.string(), defaultUpgrades.schedule),
    }),
    defaultUpgrades,
  ),
  ksdReleaseName: orElse(z.string(), "ksd"),
  ksdClusterReleaseName: orElse(z.string(), "ksd-cluster"),
});

export const koorCluster = z
  .object({
    metadata,
    spec: z.preprocess((value) => value ?? {}, koorSpec),
    status: orUndefined(koorStatus),
  })
  .transform(
    ({ metadata: { namespace, name }, spec, status }): KoorClusterObject => ({
      namespace,
      name,
      ...spec,
      status,
    }),
  );
