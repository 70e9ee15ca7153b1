import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { figureOf, inventory, resourcesOf, usedPercentOf } from "../../live/inventory.ts";
import { fullness } from "../../parts/figure/fullness.ts";
import type { Tile } from "../../parts/figure/tiles.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { Tags } from "../../parts/text/tags.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { ResourcePage } from "../../resources/resource-page.tsx";
import { BackupList } from "./backup-list.tsx";
import { lastBackups } from "./last-backups.ts";
import { SnapshotList } from "./snapshot-list.tsx";
import { deviceClassOf, groupOf } from "./volume-facts.ts";
import { volumeKinds } from "./volume-kinds.tsx";
import { tagsOf } from "./volume-tags.ts";

/** One volume or thin pool. */
export function VolumePage({ group, name }: { readonly group: string; readonly name: string }) {
  const resource = `volumeGroups/${group}/volumes/${name}`;
  const type = inventory.value.resources.get(resource)?.type ?? "volume";
  const kind = volumeKinds.find((each) => each.type === type) ?? volumeKinds[0];
  return kind === undefined ? null : (
    <ResourcePage
      kind={kind}
      name={resource}
      title={name}
      parent={{ title: "Volumes", path: "/volumes" }}
      tilesOf={tilesOf}
      Now={Now}
      tabs={[
        { id: "snapshots", title: type === "thinPool" ? "Volumes" : "Snapshots", Body: SnapshotList },
        { id: "backups", title: "Backups", Body: Backups },
      ]}
    />
  );
}

function tilesOf(volume: Resource): readonly Tile[] {
  const group = inventory.value.resources.get(`volumeGroups/${groupOf(volume)}`);
  const size = figureOf(volume, "size");
  const free = group === undefined ? undefined : figureOf(group, "free");
  const groupSize = group === undefined ? undefined : figureOf(group, "size");
  const used = usedPercentOf(volume);
  const backupMs = lastBackups(resourcesOf("backup")).get(volume.name);
  return [
    { label: "Size", value: size === undefined ? "—" : sizeText(size) },
    ...(used === undefined
      ? []
      : [
          {
            label: "Used",
            value: (
              <span class={fullness(used) === "failed" ? "text-err" : undefined}>{Math.round(used)} %</span>
            ),
          },
        ]),
    {
      label: "Last good backup",
      value: backupMs === undefined ? "none" : <TimeText atMs={backupMs} />,
    },
    { label: "Device", value: volume.properties.device ?? "—", note: volume.state },
    {
      label: `Free in ${groupOf(volume)}`,
      value: free === undefined ? "—" : sizeText(free),
      ...(groupSize === undefined ? {} : { note: `of ${sizeText(groupSize)}` }),
    },
  ];
}

function Now({ resource }: { readonly resource: Resource }) {
  const { thin_pool: thinPool, origin } = resource.properties;
  return (
    <dl class="facts">
      <dt>Volume group</dt>
      <dd>{groupOf(resource)}</dd>
      <dt>Device class</dt>
      <dd>{deviceClassOf(resource) || "none"}</dd>
      {thinPool !== undefined && (
        <>
          <dt>Thin pool</dt>
          <dd>{thinPool}</dd>
        </>
      )}
      {origin !== undefined && (
        <>
          <dt>Snapshot of</dt>
          <dd>{origin}</dd>
        </>
      )}
      <dt>Tags</dt>
      <dd>{tagsOf(resource).length === 0 ? "none" : <Tags of={tagsOf(resource)} />}</dd>
      <dt>Block device</dt>
      <dd>
        <code>
          /dev/{groupOf(resource)}/{resource.title}
        </code>
      </dd>
    </dl>
  );
}

function Backups({ resource }: { readonly resource: Resource }) {
  return <BackupList volume={resource.name} />;
}
