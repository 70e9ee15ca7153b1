import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { figureOf, usedPercentOf } from "../../live/inventory.ts";

/** Something that fills up. */
export interface FullResource {
  readonly resource: Resource;
  readonly usedPercent: number;
  /** Undefined if it is not known. */
  readonly freeBytes: number | undefined;
}

const types: ReadonlySet<string> = new Set(["volumeGroup", "thinPool", "osd", "cephPool", "storagePool"]);
/** From here on something is shown as nearly full. */
const nearlyFullPercent = 75;

/** Returns what is nearly full, the fullest first. */
export function nearlyFull(resources: Iterable<Resource>): readonly FullResource[] {
  const all = [...resources];
  return all
    .flatMap((resource) => {
      const usedPercent = types.has(resource.type) ? usedPercentOf(resource) : undefined;
      return usedPercent === undefined || usedPercent < nearlyFullPercent || isForThinPools(resource, all)
        ? []
        : [{ resource, usedPercent, freeBytes: freeBytesOf(resource) }];
    })
    .sort((one, other) => other.usedPercent - one.usedPercent);
}

/** A group whose space belongs to thin pools is full on purpose: their own use counts. */
function isForThinPools(group: Resource, all: readonly Resource[]): boolean {
  const size = figureOf(group, "size") ?? 0;
  const pools = all.filter(
    ({ type, host, properties }) =>
      type === "thinPool" && host === group.host && properties.volume_group === group.title,
  );
  const pooled = pools.reduce((sum, pool) => sum + (figureOf(pool, "size") ?? 0), 0);
  return group.type === "volumeGroup" && pooled > size / 2;
}

function freeBytesOf(resource: Resource): number | undefined {
  const size = figureOf(resource, "size");
  const dataUsed = figureOf(resource, "data_used");
  return (
    figureOf(resource, "free") ??
    (size === undefined || dataUsed === undefined ? undefined : size * (1 - dataUsed / 100))
  );
}
