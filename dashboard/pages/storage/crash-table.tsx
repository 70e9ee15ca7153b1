import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { type CephCrash, StorageService } from "../../../gen/hostplane/v1/storage_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { propose } from "../../action/action.ts";
import { useRead } from "../../live/use-read.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { isOff } from "../../parts/is-off.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client, hasRole } from "../../session.ts";

const columns: readonly Column<CephCrash>[] = [
  { title: "Daemon", cell: ({ entity }) => entity },
  { title: "Host", cell: ({ host }) => host },
  {
    title: "When",
    cell: ({ at }) => (at === undefined ? <span class="quiet">not known</span> : <TimeText at={at} />),
  },
  { title: "What", cell: ({ what }) => what || <span class="quiet">not in the report</span> },
  { title: "Ceph", cell: ({ version }) => version },
  { title: "Archived", cell: (crash) => <Seen of={crash} /> },
];

/** Crashes of daemons that have not been archived. */
export function CrashTable() {
  const archived = useSignal(false);
  const id = useId();
  const { reading } = useRead(
    (options) => client.storage.listCrashes({ archived: archived.value }, options),
    { topics: ["storage"], key: String(archived.value) },
  );
  if (isOff(reading.value)) {
    return null;
  }
  return (
    <section class="card stack wide-table">
      <ReadState of={reading}>
        {({ crashes }) => (
          <DataTable
            caption="Crashes"
            columns={columns}
            rows={crashes}
            keyOf={(crash) => crash.id}
            empty={archived.value ? "No crashes." : "No new crashes."}
          />
        )}
      </ReadState>
      <div class="row">
        <input
          id={id}
          type="checkbox"
          checked={archived.value}
          onChange={({ currentTarget }) => {
            archived.value = currentTarget.checked;
          }}
        />
        <label for={id}>Include archived crashes</label>
      </div>
    </section>
  );
}

function Seen({ of: { id, entity, archived } }: { readonly of: CephCrash }) {
  if (archived) {
    return <>yes</>;
  }
  if (!hasRole(Role.OPERATOR)) {
    return <>no</>;
  }
  return (
    <button
      type="button"
      aria-label={`Archive the crash of ${entity}`}
      onClick={() =>
        propose({
          title: `Archive the crash of ${entity}`,
          label: "Archive",
          method: StorageService.method.archiveCrash,
          request: { id },
        })
      }
    >
      Archive
    </button>
  );
}
