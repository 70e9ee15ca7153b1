import { z } from "zod";
import type { RookObject, RookPool } from "./adapter.ts";
import { count, metadata, orElse, orUndefined, text } from "./parse-objects.ts";

const poolSpec = z.object({
  failureDomain: text,
  replicated: orElse(z.object({ size: orElse(count, 0) }), { size: 0 }),
  erasureCoded: orElse(z.object({ dataChunks: orElse(count, 0), codingChunks: orElse(count, 0) }), {
    dataChunks: 0,
    codingChunks: 0,
  }),
});

const rookStatus = z.object({
  phase: orUndefined(z.string()),
  state: orUndefined(z.string()),
  observedGeneration: orUndefined(count),
});

/** Schema of an object, with the replicas from its spec. */
function rookObject<T>(
  kind: string,
  spec: z.ZodType<T>,
  fieldsOf: (spec: T, name: string) => Pick<RookObject, "desiredReplicas" | "services" | "pools">,
) {
  return z
    .object({
      // Objects in a list may lack it.
      apiVersion: orElse(z.string(), "ceph.rook.io/v1"),
      metadata,
      spec,
      status: orUndefined(rookStatus),
    })
    .transform(
      ({ apiVersion, metadata: found, spec: rookSpec, status }): RookObject => ({
        apiVersion,
        kind,
        namespace: found.namespace,
        name: found.name,
        phase: status?.phase || undefined,
        state: status?.state || undefined,
        isObserved: (status?.observedGeneration ?? found.generation) >= found.generation,
        isDeleting: found.deletionTimestamp !== undefined,
        ...fieldsOf(rookSpec, found.name),
      }),
    );
}

export const cephCluster = rookObject(
  "CephCluster",
  z.object({ mon: orElse(z.object({ count: orUndefined(count) }), { count: undefined }) }),
  // An external cluster has its monitors elsewhere, and its count is 0 or absent.
  ({ mon }) => ({
    desiredReplicas: mon.count || undefined,
    services: ["rook-ceph-mon", "rook-ceph-mgr"],
    pools: [],
  }),
);

/** A CephBlockPool. Its desired replicas are the copies of an object, or all its chunks with erasure coding. */
export const blockPool = rookObject("CephBlockPool", poolSpec, (spec) => {
  const pools = poolsFrom([spec]);
  return { desiredReplicas: pools[0]?.size, services: [], pools };
});

export const filesystem = rookObject(
  "CephFilesystem",
  z.object({
    metadataPool: orUndefined(poolSpec),
    dataPools: orElse(z.array(poolSpec), []),
    metadataServer: orElse(z.object({ activeCount: orUndefined(count) }), { activeCount: undefined }),
  }),
  ({ metadataPool, dataPools, metadataServer: { activeCount } }, name) => ({
    desiredReplicas: activeCount === undefined ? undefined : activeCount * 2,
    services: [`rook-ceph-mds/${name}`],
    pools: poolsFrom([metadataPool, ...dataPools]),
  }),
);

export const objectStore = rookObject(
  "CephObjectStore",
  z.object({
    metadataPool: orUndefined(poolSpec),
    dataPool: orUndefined(poolSpec),
    gateway: orElse(z.object({ instances: orUndefined(count) }), { instances: undefined }),
  }),
  ({ metadataPool, dataPool, gateway: { instances } }, name) => ({
    desiredReplicas: instances,
    services: [`rook-ceph-rgw/${name}`],
    pools: poolsFrom([metadataPool, dataPool]),
  }),
);

/** Returns the specified pools. An object without a pool spec uses the pools of others. */
function poolsFrom(specs: readonly (z.infer<typeof poolSpec> | undefined)[]): readonly RookPool[] {
  return specs.flatMap((spec): RookPool[] => {
    if (spec === undefined) {
      return [];
    }
    const failureDomain = spec.failureDomain || "host";
    const { dataChunks, codingChunks } = spec.erasureCoded;
    if (dataChunks > 0) {
      const size = dataChunks + codingChunks;
      return [{ kind: "erasure", size, redundancy: codingChunks, failureDomain }];
    }
    const { size } = spec.replicated;
    return size > 0 ? [{ kind: "replicated", size, redundancy: size - 1, failureDomain }] : [];
  });
}
