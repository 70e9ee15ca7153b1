import type { CephOsd } from "../../../gen/hostplane/v1/storage_pb.ts";
import { useRead } from "../../live/use-read.ts";
import { Badge } from "../../parts/badge.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { isOff } from "../../parts/is-off.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { client } from "../../session.ts";

const notKnown = <span class="quiet">not known</span>;

const columns: readonly Column<CephOsd>[] = [
  { title: "OSD", cell: ({ id }) => `osd.${id}` },
  {
    title: "State",
    cell: ({ up, in: isIn }) => (
      <span class="row">
        <Badge tone={up ? "ok" : "bad"}>{up ? "up" : "down"}</Badge>
        <Badge tone={isIn ? "ok" : "warn"}>{isIn ? "in" : "out"}</Badge>
      </span>
    ),
  },
  { title: "Host", cell: ({ host }) => host || notKnown },
  { title: "Class", cell: ({ deviceClass }) => deviceClass || notKnown },
  { title: "In use", cell: (osd) => <Usage of={osd} /> },
  { title: "PGs", isNumber: true, cell: ({ pgCount }) => pgCount ?? notKnown },
  { title: "Weight", isNumber: true, cell: ({ reweight }) => Number(reweight.toFixed(2)) },
];

/** The OSDs of the cluster, usually one per disk. */
export function OsdTable() {
  const { reading } = useRead((options) => client.storage.listOsds({}, options), { topics: ["storage"] });
  if (isOff(reading.value)) {
    return null;
  }
  return (
    <section class="card wide-table">
      <ReadState of={reading}>
        {({ osds }) => (
          <DataTable
            caption="OSDs"
            columns={columns}
            rows={osds}
            keyOf={({ id }) => String(id)}
            empty="No OSDs: the cluster cannot store data."
          />
        )}
      </ReadState>
    </section>
  );
}

function Usage({ of: { id, usedBytes, totalBytes } }: { readonly of: CephOsd }) {
  if (usedBytes === undefined || totalBytes === undefined) {
    return notKnown;
  }
  const used = Number(usedBytes);
  const total = Math.max(1, Number(totalBytes));
  return (
    <>
      <progress aria-label={`osd.${id}, in use`} value={used} max={total} />
      <div class="quiet">
        {sizeText(usedBytes)} of {sizeText(totalBytes)} ({Math.round((used / total) * 100)} %)
      </div>
    </>
  );
}
