import { type StoragePool, StoragePoolKind } from "../../../gen/hostplane/v1/storage_pool_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { useWatch } from "../../live/use-watch.ts";
import { DataTable } from "../../parts/data-table.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { UsageBar } from "../../parts/usage-bar.tsx";
import { client, hasRole } from "../../session.ts";
import { ChangeStoragePool } from "./change-storage-pool.tsx";

/** The storage pool that hypervisors share, live, with its devices and the ones that can be added. */
export function StoragePoolCard() {
  const watching = useWatch((options) => client.storagePool.watchStoragePool({}, options));
  return (
    <section class="card stack" aria-labelledby="storage-pool">
      <h2 id="storage-pool">Shared storage pool</h2>
      <ReadState of={watching}>
        {({ pool }) =>
          pool !== undefined && (
            <>
              <UsageBar label={pool.name} usedBytes={pool.usedBytes} totalBytes={pool.sizeBytes} />
              <p class="quiet">
                {kindText(pool.kind)}, {sizeText(pool.freeBytes)} free
              </p>
              {pool.kind === StoragePoolKind.VOLUME_GROUP && <Devices of={pool} />}
              {hasRole(Role.OPERATOR) && <ChangeStoragePool of={pool} />}
            </>
          )
        }
      </ReadState>
    </section>
  );
}

function kindText(kind: StoragePoolKind): string {
  return kind === StoragePoolKind.DIRECTORY
    ? "A directory, as large as its file system"
    : "An LVM volume group";
}

function Devices({ of: { devices, spares } }: { readonly of: StoragePool }) {
  return (
    <>
      <DataTable
        caption="Pool devices"
        columns={[
          { title: "Path", cell: ({ path }) => <code>{path}</code> },
          { title: "Size", cell: ({ sizeBytes }) => sizeText(sizeBytes), isNumber: true },
          { title: "In use", cell: ({ usedBytes }) => sizeText(usedBytes), isNumber: true },
          {
            title: "Notes",
            cell: ({ missing, configured }) =>
              [
                ...(missing ? ["missing: LVM cannot find it"] : []),
                ...(configured ? [] : ["not configured: never removed"]),
              ].join("; "),
          },
        ]}
        rows={devices}
        keyOf={({ path }) => path}
        empty="No devices."
      />
      <DataTable
        caption="Spare devices"
        columns={[
          { title: "Path", cell: ({ path }) => <code>{path}</code> },
          {
            title: "Size",
            cell: ({ sizeBytes }) => (sizeBytes === 0n ? "not known" : sizeText(sizeBytes)),
            isNumber: true,
          },
          {
            title: "Can be added",
            cell: ({ unusable }) => (unusable === "" ? "yes" : `no: ${unusable}`),
          },
        ]}
        rows={spares}
        keyOf={({ path }) => path}
        empty="No spare devices. List disks in hypervisors.pool.devices."
      />
    </>
  );
}
