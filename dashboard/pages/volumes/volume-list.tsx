import { lazy } from "preact/compat";
import { useMemo } from "preact/hooks";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { figureOf, resourcesByType, resourcesOf } from "../../live/inventory.ts";
import { DomainNotice } from "../../parts/domain-notice.tsx";
import { Meter } from "../../parts/figure/meter.tsx";
import { RowSparkline } from "../../parts/figure/row-sparkline.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Key } from "../../parts/key.tsx";
import { useKeys } from "../../parts/keys.ts";
import { Panel } from "../../parts/panel.tsx";
import { healthStatus, Status } from "../../parts/status.tsx";
import { DataTable } from "../../parts/table/data-table.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { kindOf, pathOfResource } from "../../resources/kinds.ts";
import { hasRole } from "../../session.ts";
import { Page } from "../../shell/page.tsx";
import { openPanel } from "../../shell/side-panel.tsx";
import { BackupList } from "./backup-list.tsx";
import { lastBackups } from "./last-backups.ts";
import { volumeColumns, volumeFilters, volumeRow } from "./volume-columns.tsx";

const CreateVolume = lazy(async () => (await import("./create-volume.tsx")).CreateVolume);

/** The volume groups, their volumes, and all backups. */
export function VolumeList() {
  const groups = resourcesOf("volumeGroup");
  const byType = resourcesByType.value;
  const volumes = useMemo(
    () => [...(byType.get("volume") ?? []), ...(byType.get("thinPool") ?? [])],
    [byType],
  );
  const columns = useMemo(() => volumeColumns(lastBackups(byType.get("backup") ?? [])), [byType]);
  const mayChange = hasRole(Role.OPERATOR);
  const create = () => openPanel("Create a volume", CreateVolume);
  useKeys(mayChange ? [{ key: "c", does: "create a volume", run: create }] : []);
  return (
    <Page title="Volumes" note={spaceText(groups)}>
      <DomainNotice domain="volumes" />
      {groups.length > 0 && <Groups of={groups} />}
      <DataTable
        {...volumeRow}
        caption="Volumes"
        columns={columns}
        rows={volumes}
        filters={volumeFilters}
        pathOf={(volume) => pathOfResource(volume) ?? "/volumes"}
        actions={actionsOf(volumes)}
        hasTools
        tools={
          mayChange && (
            <button type="button" class="main" onClick={create}>
              <Icon name="plus" /> Create <Key text="C" />
            </button>
          )
        }
        empty={
          <>
            <strong>No volumes yet</strong>
            {groups.length === 0 ? (
              <span>
                No volume group of a device class exists. Run <code>hostplane doctor</code> on the host to see
                what is missing.
              </span>
            ) : (
              <span>{mayChange ? "Create the first one." : "An operator can create one."}</span>
            )}
          </>
        }
      />
      <BackupList />
    </Page>
  );
}

function actionsOf(volumes: readonly Resource[]) {
  const volume = volumes.find(({ type }) => type === "volume");
  return volume === undefined ? [] : kindOf(volume).actions();
}

/** The volume groups with their space, in one line each. */
function Groups({ of: groups }: { readonly of: readonly Resource[] }) {
  return (
    <Panel title="Volume groups" isFlush>
      <ul class="lines">
        {groups.map((group) => {
          const size = figureOf(group, "size") ?? 0;
          const free = figureOf(group, "free") ?? 0;
          return (
            <li key={group.name}>
              <Status kind={healthStatus(group.health)} text={group.state} />
              <strong class="grow">{group.title}</strong>
              <Meter
                percent={size > 0 ? ((size - free) / size) * 100 : undefined}
                label={`${group.title}, in use`}
              />
              <RowSparkline resource={group.name} figure="free" label={`Free space of ${group.title}`} />
              <span class="soft keep">
                {sizeText(free)} of {sizeText(size)} free
              </span>
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}

function spaceText(groups: readonly Resource[]): string | undefined {
  const sum = (figure: string) => groups.reduce((total, group) => total + (figureOf(group, figure) ?? 0), 0);
  return groups.length === 0
    ? undefined
    : `${sizeText(sum("size") - sum("free"))} allocated, ${sizeText(sum("free"))} free`;
}
