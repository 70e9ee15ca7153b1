import { Link } from "wouter-preact";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { figureOf, usedPercentOf } from "../../live/inventory.ts";
import { PercentText } from "../../parts/figure/meter.tsx";
import type { Tile } from "../../parts/figure/tiles.tsx";
import { ResourcePage } from "../../resources/resource-page.tsx";
import { CrashTable } from "./crash-table.tsx";
import { sizeOf, weightText } from "./osd-table.tsx";
import { cephHostKind, hostOf, osdClassOf, osdKind, resourceNamed } from "./storage-kinds.tsx";

/** One OSD. @param id its number */
export function OsdPage({ id }: { readonly id: string }) {
  const title = `osd.${id}`;
  return (
    <ResourcePage
      kind={osdKind}
      name={resourceNamed("osd", title)}
      title={title}
      parent={{ title: "Ceph", path: "/storage" }}
      tilesOf={tilesOf}
      Now={Now}
    />
  );
}

function tilesOf(osd: Resource): readonly Tile[] {
  return [
    {
      label: "Used",
      value: <PercentText percent={usedPercentOf(osd)} />,
      note: sizeOf(osd, "used"),
    },
    { label: "Size", value: sizeOf(osd, "size") },
    { label: "Free", value: sizeOf(osd, "free") },
    { label: "Placement groups", value: figureOf(osd, "pgs") ?? "—" },
    { label: "Reweight", value: weightText(osd), note: "share of its normal data" },
  ];
}

function Now({ resource }: { readonly resource: Resource }) {
  const host = hostOf(resource);
  return (
    <>
      <dl class="facts">
        <dt>Host</dt>
        <dd>
          {host === "" ? (
            "—"
          ) : (
            <Link href={`~${cephHostKind.pathOf({ ...resource, title: host })}`}>{host}</Link>
          )}
        </dd>
        <dt>Device class</dt>
        <dd>{osdClassOf(resource) || "—"}</dd>
        <dt>State</dt>
        <dd>{resource.state}</dd>
      </dl>
      <CrashTable daemon={resource.title} />
    </>
  );
}
