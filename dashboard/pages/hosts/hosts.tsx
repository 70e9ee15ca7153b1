import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { FleetService } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { propose } from "../../action/action.ts";
import { pathOfHost } from "../../host/address-of-host.ts";
import { hosts } from "../../live/hosts.ts";
import { nowMs } from "../../live/now.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { type HostRow, hostRows, hostStatus } from "../../parts/health/host-needs.ts";
import { Icon } from "../../parts/icon.tsx";
import { Key } from "../../parts/key.tsx";
import { useKeys } from "../../parts/keys.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { DataTable } from "../../parts/table/data-table.tsx";
import type { RowAction } from "../../parts/table/table-props.ts";
import { labelTexts } from "../../parts/text/label-texts.ts";
import { hasRole, session } from "../../session.ts";
import { Page } from "../../shell/page.tsx";
import { openPanel } from "../../shell/side-panel.tsx";
import { AddHost } from "./add-host.tsx";
import { hostColumns, hostFilters } from "./host-columns.tsx";
import { SetLabels } from "./set-labels.tsx";

/** The hosts of the fleet; what needs a person comes first. */
export function Hosts() {
  const { hosts: all, error } = hosts.value;
  const hubVersion = session.value.state === "in" ? session.value.info.version : "";
  const rows = useMemo(() => hostRows(all ?? [], hubVersion, nowMs.value), [all, hubVersion, nowMs.value]);
  const columns = useMemo(() => hostColumns(hubVersion), [hubVersion]);
  const mayChange = hasRole(Role.ADMIN);
  const isAdding = useSignal(false);
  const add = () => {
    isAdding.value = true;
  };
  useKeys(mayChange ? [{ key: "c", does: "add a host", run: add }] : []);
  return (
    <Page title="Hosts" note={all && noteOf(rows)}>
      {error !== undefined && <ErrorNote error={error} />}
      {all === undefined && error === undefined && <Skeleton />}
      {all !== undefined && (
        <DataTable
          caption="Hosts"
          columns={columns}
          rows={rows}
          keyOf={({ host }) => host.name}
          titleOf={({ host }) => host.name}
          pathOf={({ host }) => pathOfHost(host.name)}
          statusOf={({ needs }) => hostStatus(needs)}
          textOf={({ host }) => labelTexts(host.labels).join(" ")}
          filters={hostFilters}
          actions={mayChange ? actions : []}
          hasTools
          tools={
            mayChange && (
              <button type="button" class="main" onClick={add}>
                <Icon name="plus" /> Add host <Key text="C" />
              </button>
            )
          }
          empty={
            <>
              <strong>No hosts yet</strong>
              <span>{mayChange ? "Add the first one." : "An admin can add one."}</span>
            </>
          }
        />
      )}
      {isAdding.value && (
        <AddHost
          onClose={() => {
            isAdding.value = false;
          }}
        />
      )}
    </Page>
  );
}

/** "38 of 40 connected, 3 need you". */
function noteOf(rows: readonly HostRow[]): string {
  const connected = rows.filter(({ host }) => host.connected).length;
  const needy = rows.filter(({ needs }) => needs.length > 0).length;
  const texts = [`${connected} of ${rows.length} connected`];
  if (needy > 0) {
    texts.push(`${needy} need${needy === 1 ? "s" : ""} you`);
  }
  return texts.join(", ");
}

const actions: readonly RowAction<HostRow>[] = [
  {
    text: "Labels…",
    icon: "tag",
    key: "t",
    run: ({ host }) => openPanel(`Labels of ${host.name}`, () => <SetLabels host={host} />),
  },
  {
    text: "Remove…",
    icon: "trash",
    key: "delete",
    isDestructive: true,
    run: ({ host: { name } }) =>
      propose({
        title: `Remove the host ${name} from the fleet`,
        label: "Remove",
        question:
          "Calls through the hub no longer reach it. The host itself keeps running, with its volumes, machines and pods.",
        method: FleetService.method.removeHost,
        request: { name },
        isDangerous: true,
        confirmName: name,
        doneText: `${name} is no longer in the fleet`,
      }),
  },
];
