import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type CephCrash, StorageService } from "../../../gen/hostplane/v1/storage_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { actionOf, propose, proposeAll } from "../../action/action.ts";
import { useRead } from "../../live/use-read.ts";
import { isOff } from "../../parts/is-off.ts";
import { ReadState } from "../../parts/read-state.tsx";
import type { Column, Filter } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import type { RowAction } from "../../parts/table/table-props.ts";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client, hasRole } from "../../session.ts";

const columns: readonly Column<CephCrash>[] = [
  { id: "daemon", title: "Daemon", cell: ({ entity }) => entity, sortBy: ({ entity }) => entity },
  {
    id: "host",
    title: "Host",
    width: "medium",
    cell: ({ host }) => host,
    sortBy: ({ host }) => host,
    onCard: "place",
  },
  { id: "what", title: "Cause", width: "wide", cell: ({ what }) => what || "—", onCard: "figure" },
  { id: "version", title: "Ceph", width: "short", rank: 2, cell: ({ version }) => version },
  {
    id: "at",
    title: "When",
    width: "time",
    isNumber: true,
    cell: ({ at }) => (at === undefined ? "—" : <TimeText at={at} />),
    sortBy: ({ at }) => (at === undefined ? undefined : timestampMs(at)),
    onCard: "place",
  },
];

const filters: readonly Filter<CephCrash>[] = [
  { id: "archived", title: "state", valuesOf: (crash) => [stateText(crash)] },
];

const actions: readonly RowAction<CephCrash>[] = [
  {
    text: "Archive…",
    icon: "archive",
    appliesTo: ({ archived }) => !archived,
    run: (crash) => propose(archivalOf(crash)),
    runAll: (crashes) => {
      const [only] = crashes;
      if (only !== undefined && crashes.length === 1) {
        propose(archivalOf(only));
      } else {
        proposeAll(
          `Archive ${crashes.length} crashes`,
          "Archive",
          crashes.map((crash) => actionOf(archivalOf(crash))),
        );
      }
    },
  },
];

/** Crashes that daemons have reported, newest first. @param daemon only those of this one, such as "osd.0" */
export function CrashTable({ daemon }: { readonly daemon?: string }) {
  const { reading } = useRead((options) => client.storage.listCrashes({ archived: true }, options), {
    topics: ["storage"],
  });
  if (isOff(reading.value)) {
    return null;
  }
  return (
    <ReadState of={reading}>
      {({ crashes }) => (
        <DataTable
          name="crashes"
          caption="Crashes"
          columns={columns}
          rows={daemon === undefined ? crashes : crashes.filter(({ entity }) => entity === daemon)}
          keyOf={({ id }) => id}
          titleOf={({ entity }) => entity}
          statusOf={(crash) => ({ kind: crash.archived ? "off" : "warn", text: stateText(crash) })}
          textOf={({ host, what, version }) => `${host} ${what} ${version}`}
          filters={filters}
          actions={hasRole(Role.OPERATOR) ? actions : []}
          empty={daemon === undefined ? "No crashes." : `No crashes of ${daemon}.`}
        />
      )}
    </ReadState>
  );
}

function stateText({ archived }: CephCrash): string {
  return archived ? "archived" : "new";
}

function archivalOf({ id, entity }: CephCrash) {
  return {
    title: `Archive the crash of ${entity}`,
    label: "Archive",
    method: StorageService.method.archiveCrash,
    request: { id },
  };
}
