import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { figureOf } from "../../live/inventory.ts";
import { PercentText } from "../../parts/figure/meter.tsx";
import type { Tile } from "../../parts/figure/tiles.tsx";
import { ResourcePage } from "../../resources/resource-page.tsx";
import { sizeOf } from "./osd-table.tsx";
import { applicationsText, countText, DeepScrub, redundancyText } from "./pool-table.tsx";
import { cephPoolKind, resourceNamed } from "./storage-kinds.tsx";

/** One pool of the cluster. */
export function PoolPage({ name }: { readonly name: string }) {
  return (
    <ResourcePage
      kind={cephPoolKind}
      name={resourceNamed("cephPool", name)}
      title={name}
      parent={{ title: "Ceph", path: "/storage" }}
      tilesOf={tilesOf}
      Now={Now}
    />
  );
}

function tilesOf(pool: Resource): readonly Tile[] {
  return [
    {
      label: "Used",
      value: <PercentText percent={figureOf(pool, "data_used")} />,
      note: "of what it may store",
    },
    { label: "Stored", value: sizeOf(pool, "stored"), note: `${sizeOf(pool, "used")} with copies` },
    { label: "Available", value: sizeOf(pool, "free"), note: "for clients" },
    { label: "Objects", value: countText(figureOf(pool, "objects")) },
    { label: "Placement groups", value: countText(figureOf(pool, "pgs")) },
  ];
}

function Now({ resource }: { readonly resource: Resource }) {
  const lost = figureOf(resource, "redundancy");
  const least = figureOf(resource, "min_copies");
  return (
    <dl class="facts">
      <dt>Applications</dt>
      <dd>{applicationsText(resource)}</dd>
      <dt>Redundancy</dt>
      <dd>{redundancyText(resource)}</dd>
      <dt>Tolerates the loss of</dt>
      <dd>{lost === undefined ? "—" : `${lost} without losing data`}</dd>
      <dt>Accepts writes with</dt>
      <dd>{least === undefined ? "—" : `at least ${least}`}</dd>
      <dt>Quota</dt>
      <dd>{quotaText(resource)}</dd>
      <dt>Oldest deep scrub</dt>
      <dd>
        <DeepScrub pool={resource} />
      </dd>
    </dl>
  );
}

function quotaText(pool: Resource): string {
  const objects = figureOf(pool, "quota_objects");
  const parts = [
    ...(figureOf(pool, "quota") === undefined ? [] : [sizeOf(pool, "quota")]),
    ...(objects === undefined ? [] : [`${countText(objects)} objects`]),
  ];
  return parts.join(", ") || "none";
}
