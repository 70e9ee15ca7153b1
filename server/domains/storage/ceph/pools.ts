import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { CephPool, CephPoolScrubs, CephState } from "../../../../adapters/ceph/adapter.ts";
import type { Part } from "../../../../adapters/host/part-of-state.ts";
import { CephPoolKind, type CephPoolSchema } from "../../../../gen/hostplane/v1/storage_pb.ts";
import type { FigureNotes } from "../figures/figure-notes.ts";

const numberOfKind = { replicated: CephPoolKind.REPLICATED, erasure: CephPoolKind.ERASURE } as const;

/** Converts pools to messages, sorted by name, with their usage and scrubs if these could be read. */
export function poolMessages(
  pools: readonly CephPool[],
  { usage, scrubs }: Pick<CephState, "usage" | "scrubs">,
  notes: FigureNotes,
): MessageInitShape<typeof CephPoolSchema>[] {
  // The usage of pools is read together with the usage of the whole cluster, or not at all.
  noteMissing(usage, ["object_count", "stored_bytes", "used_bytes", "available_bytes"], notes);
  noteMissing(scrubs, ["oldest_scrub_at", "oldest_deep_scrub_at"], notes);
  const scrubsOf = new Map("ok" in scrubs ? scrubs.ok.map((each) => [each.poolId, each]) : []);
  return pools
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((pool) => poolMessage(pool, scrubsOf.get(pool.id), notes));
}

function noteMissing(part: Part<unknown>, fields: readonly string[], notes: FigureNotes): void {
  for (const field of fields) {
    notes.valueOf(`pools.${field}`, part);
  }
}

function poolMessage(
  pool: CephPool,
  scrubs: CephPoolScrubs | undefined,
  notes: FigureNotes,
): MessageInitShape<typeof CephPoolSchema> {
  const { id, name, kind, redundancy, failureDomain, applications, quotaBytes, quotaObjects, usage } = pool;
  const { oldestScrubAtMs, oldestDeepScrubAtMs } = scrubs ?? {};
  return {
    id: BigInt(id),
    name,
    kind: numberOfKind[kind],
    size: notes.int32("pools.size", pool.size),
    minSize: notes.int32("pools.min_size", pool.minSize),
    ...(redundancy !== undefined && { redundancy }),
    pgCount: notes.int32("pools.pg_count", pool.pgCount),
    failureDomain: failureDomain?.type ?? "",
    applications: [...applications],
    ...(usage && {
      objectCount: BigInt(usage.objectCount),
      storedBytes: usage.storedBytes,
      usedBytes: usage.usedBytes,
      availableBytes: usage.availableBytes,
    }),
    ...(quotaBytes !== undefined && { quotaBytes }),
    ...(quotaObjects !== undefined && { quotaObjects: BigInt(quotaObjects) }),
    ...(oldestScrubAtMs !== undefined && { oldestScrubAt: timestampFromMs(oldestScrubAtMs) }),
    ...(oldestDeepScrubAtMs !== undefined && { oldestDeepScrubAt: timestampFromMs(oldestDeepScrubAtMs) }),
  };
}
