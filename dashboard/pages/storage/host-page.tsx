import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { figureOf, resourcesOf } from "../../live/inventory.ts";
import { PercentText } from "../../parts/figure/meter.tsx";
import type { Tile } from "../../parts/figure/tiles.tsx";
import { ResourcePage } from "../../resources/resource-page.tsx";
import { hostSpace, sizeOfHost } from "./host-table.tsx";
import { OsdTable } from "./osd-table.tsx";
import { cephHostKind, daemonsOf, hostOf, resourceNamed } from "./storage-kinds.tsx";

/** One host of the cluster: its OSDs and other daemons. */
export function HostPage({ name }: { readonly name: string }) {
  return (
    <ResourcePage
      kind={cephHostKind}
      name={resourceNamed("cephHost", name)}
      title={name}
      parent={{ title: "Ceph", path: "/storage" }}
      tilesOf={tilesOf}
      Now={Now}
    />
  );
}

function tilesOf(host: Resource): readonly Tile[] {
  const space = hostSpace(resourcesOf("osd").filter((osd) => hostOf(osd) === host.title));
  const down = figureOf(host, "osds_down");
  return [
    { label: "Used", value: <PercentText percent={space.usedPercent} /> },
    { label: "Size", value: sizeOfHost(space), note: "of its OSDs" },
    { label: "OSDs", value: space.osdCount, ...(down === undefined ? {} : { note: `${down} down` }) },
    { label: "Daemons", value: figureOf(host, "daemons") ?? "—" },
  ];
}

function Now({ resource }: { readonly resource: Resource }) {
  const others = daemonsOf(resource).filter((daemon) => !daemon.startsWith("osd."));
  return (
    <>
      <dl class="facts">
        <dt>Other daemons</dt>
        <dd>{others.join(", ") || "none"}</dd>
      </dl>
      <OsdTable host={resource.title} />
    </>
  );
}
