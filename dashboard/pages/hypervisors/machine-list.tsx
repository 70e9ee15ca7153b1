import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { inventory, resourcesOf } from "../../live/inventory.ts";
import { DomainNotice } from "../../parts/domain-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { DataTable } from "../../parts/table/data-table.tsx";
import { kindOf, pathOfResource } from "../../resources/kinds.ts";
import { useLastFailures } from "../../resources/use-last-failures.ts";
import { Page } from "../../shell/page.tsx";
import { machineColumns, machineFilters, machineRow } from "./machine-columns.tsx";
import { StoragePoolPanel } from "./storage-pool.tsx";

/** The machines that host desktops, whether they exist yet or not, and the storage that they share. */
export function MachineList() {
  const machines = resourcesOf("hypervisor");
  const [pool] = resourcesOf("storagePool");
  const [first] = machines;
  const failures = useLastFailures("hypervisors");
  return (
    <Page title="Machines" note={runningText(machines)}>
      <DomainNotice domain="hypervisors" />
      {first === undefined && !inventory.value.isComplete ? (
        <Skeleton />
      ) : (
        <DataTable
          {...machineRow(failures)}
          caption="Machines"
          columns={machineColumns(failures)}
          rows={machines}
          filters={machineFilters}
          pathOf={(machine) => pathOfResource(machine) ?? "/hypervisors"}
          actions={first === undefined ? [] : kindOf(first).actions()}
          hasTools={machines.length > 0}
          empty={
            <>
              <strong>No machines yet</strong>
              <span>
                Configure templates in <code>hypervisors.templates</code>, or names of existing VMs in{" "}
                <code>hypervisors.match</code>.
              </span>
            </>
          }
        />
      )}
      {pool !== undefined && <StoragePoolPanel pool={pool} />}
    </Page>
  );
}

function runningText(machines: readonly Resource[]): string | undefined {
  const running = machines.filter(({ state }) => state === "running").length;
  return machines.length === 0 ? undefined : `${running} of ${machines.length} running`;
}
