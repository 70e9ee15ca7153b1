import { type CephPool, CephPoolKind } from "../../../gen/hostplane/v1/storage_pb.ts";
import { useRead } from "../../live/use-read.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { isOff } from "../../parts/is-off.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client } from "../../session.ts";

const notKnown = <span class="quiet">not known</span>;

const size = (bytes: bigint | undefined) => (bytes === undefined ? notKnown : sizeText(bytes));

const columns: readonly Column<CephPool>[] = [
  { title: "Pool", cell: ({ name }) => name },
  {
    title: "Applications",
    cell: ({ applications }) => applications.join(", ") || <span class="quiet">none</span>,
  },
  { title: "Redundancy", cell: (pool) => <Kept of={pool} /> },
  {
    title: "Tolerates the loss of",
    isNumber: true,
    cell: ({ redundancy }) => redundancy ?? notKnown,
  },
  { title: "Stored", isNumber: true, cell: ({ storedBytes }) => size(storedBytes) },
  { title: "With copies", isNumber: true, cell: ({ usedBytes }) => size(usedBytes) },
  { title: "Max. available", isNumber: true, cell: ({ availableBytes }) => size(availableBytes) },
  {
    title: "Objects",
    isNumber: true,
    cell: ({ objectCount }) => objectCount?.toLocaleString() ?? notKnown,
  },
  { title: "PGs", isNumber: true, cell: ({ pgCount }) => pgCount },
  {
    title: "Oldest deep scrub",
    cell: ({ oldestDeepScrubAt }) =>
      oldestDeepScrubAt === undefined ? notKnown : <TimeText at={oldestDeepScrubAt} />,
  },
];

const quota: Column<CephPool> = { title: "Quota", isNumber: true, cell: quotaText };

/** The pools of the cluster, with their redundancy. */
export function PoolTable() {
  const { reading } = useRead((options) => client.storage.listPools({}, options), { topics: ["storage"] });
  if (isOff(reading.value)) {
    return null;
  }
  return (
    <section class="card wide-table">
      <ReadState of={reading}>
        {({ pools }) => (
          <DataTable
            caption="Pools"
            columns={pools.some(hasQuota) ? [...columns, quota] : columns}
            rows={pools}
            keyOf={({ id }) => String(id)}
            empty="No pools yet."
          />
        )}
      </ReadState>
    </section>
  );
}

function Kept({ of: { kind, size: count, failureDomain } }: { readonly of: CephPool }) {
  return (
    <>
      {count} {kind === CephPoolKind.ERASURE ? "parts" : "copies"}
      {failureDomain !== "" && <div class="quiet">one per {failureDomain}</div>}
    </>
  );
}

function hasQuota({ quotaBytes, quotaObjects }: CephPool): boolean {
  return quotaBytes !== undefined || quotaObjects !== undefined;
}

function quotaText({ quotaBytes, quotaObjects }: CephPool): string {
  const parts = [
    ...(quotaBytes === undefined ? [] : [sizeText(quotaBytes)]),
    ...(quotaObjects === undefined ? [] : [`${quotaObjects.toLocaleString()} objects`]),
  ];
  return parts.join(", ") || "none";
}
