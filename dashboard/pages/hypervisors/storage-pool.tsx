import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { type StoragePool, StoragePoolKind } from "../../../gen/hostplane/v1/storage_pool_pb.ts";
import { figureOf, usedPercentOf } from "../../live/inventory.ts";
import { useWatch } from "../../live/use-watch.ts";
import { Meter } from "../../parts/figure/meter.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Note } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import type { StatusKind } from "../../parts/status.tsx";
import type { Column } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { kindOf } from "../../resources/kinds.ts";
import { client } from "../../session.ts";
import { bytesText } from "./machine-text.tsx";

/** The storage pool that machines share, live, with its devices and those that can be added. */
export function StoragePoolPanel({ pool }: { readonly pool: Resource }) {
  const watching = useWatch((options) => client.storagePool.watchStoragePool({}, options));
  const actions = kindOf(pool).actions();
  return (
    <Panel
      title="Storage pool"
      note={pool.title}
      tools={actions
        .filter(({ appliesTo }) => appliesTo?.(pool) ?? true)
        .map(({ text, icon, run }) => (
          <button key={text} type="button" class="small" onClick={() => run(pool)}>
            {icon !== undefined && <Icon name={icon} />} {text}
          </button>
        ))}
    >
      {pool.reason !== "" && <Note tone="warn">{pool.reason}</Note>}
      <dl class="facts">
        <dt>Size</dt>
        <dd>{bytesText(figureOf(pool, "size"))}</dd>
        <dt>Used</dt>
        <dd class="row">
          {bytesText(figureOf(pool, "used"))}
          <Meter percent={usedPercentOf(pool)} label={`${pool.title}, in use`} />
        </dd>
        <dt>Free</dt>
        <dd>{bytesText(figureOf(pool, "free"))}</dd>
      </dl>
      <ReadState of={watching}>
        {({ pool: read }) => (read?.kind === StoragePoolKind.VOLUME_GROUP ? <Devices of={read} /> : null)}
      </ReadState>
    </Panel>
  );
}

/** A device of the pool, or one that the configuration allows to add. */
interface PoolDevice {
  readonly path: string;
  readonly sizeBytes: bigint;
  /** Undefined for a spare device. */
  readonly usedBytes: bigint | undefined;
  readonly status: StatusKind;
  readonly text: string;
}

const columns: readonly Column<PoolDevice>[] = [
  { id: "device", title: "Device", cell: ({ path }) => <code>{path}</code>, sortBy: ({ path }) => path },
  { id: "state", title: "State", width: "wide", cell: ({ text }) => text, onCard: "place" },
  {
    id: "size",
    title: "Size",
    width: "figure",
    isNumber: true,
    cell: ({ sizeBytes }) => (sizeBytes === 0n ? "—" : sizeText(sizeBytes)),
    sortBy: ({ sizeBytes }) => Number(sizeBytes),
    onCard: "figure",
  },
  {
    id: "used",
    title: "Used",
    width: "usage",
    isNumber: true,
    cell: ({ path, sizeBytes, usedBytes }) => (
      <Meter
        percent={
          usedBytes === undefined || sizeBytes === 0n
            ? undefined
            : (Number(usedBytes) / Number(sizeBytes)) * 100
        }
        label={`${path}, in use`}
      />
    ),
    sortBy: ({ usedBytes }) => (usedBytes === undefined ? undefined : Number(usedBytes)),
    onCard: "figure",
  },
];

function Devices({ of: { devices, spares } }: { readonly of: StoragePool }) {
  const rows: readonly PoolDevice[] = [
    ...devices.map(
      ({ path, sizeBytes, usedBytes, missing, configured }): PoolDevice => ({
        path,
        sizeBytes,
        usedBytes,
        status: missing ? "failed" : "ok",
        text: [
          missing ? "missing: LVM cannot find it" : "in the pool",
          ...(configured ? [] : ["not configured, never removed"]),
        ].join(", "),
      }),
    ),
    ...spares.map(
      ({ path, sizeBytes, unusable }): PoolDevice => ({
        path,
        sizeBytes,
        usedBytes: undefined,
        status: unusable === "" ? "off" : "unknown",
        text: unusable === "" ? "spare" : `cannot be added: ${unusable}`,
      }),
    ),
  ];
  return (
    <DataTable
      name="devices"
      caption="Devices of the storage pool"
      columns={columns}
      rows={rows}
      keyOf={({ path }) => path}
      titleOf={({ path }) => path}
      statusOf={({ status, text }) => ({ kind: status, text })}
      empty="No devices."
    />
  );
}
