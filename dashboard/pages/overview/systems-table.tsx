import { type Backend, BackendHealth, BackendKind } from "../../../gen/hostplane/v1/system_pb.ts";
import { isServed } from "../../parts/health/backend-health.ts";
import type { StatusKind } from "../../parts/status.tsx";
import type { Column } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import { Sentence } from "../../parts/text/sentence.tsx";

const columns: readonly Column<Backend>[] = [
  { id: "name", title: "System", width: "medium", cell: nameOf, sortBy: nameOf },
  { id: "domain", title: "Domain", width: "short", cell: ({ domain }) => domain, onCard: "place" },
  {
    id: "health",
    title: "Health",
    width: "medium",
    cell: (backend) => statusOf(backend).text,
    onCard: "place",
  },
  {
    id: "version",
    title: "Version",
    width: "medium",
    rank: 2,
    cell: ({ kind, version }) => (kind === BackendKind.SANDBOX ? "sandbox" : version || "—"),
  },
  {
    id: "missing",
    title: "Missing",
    cell: ({ missing }) => (
      <span title={missing.join("; ")}>
        <Sentence text={missing.join("; ")} />
      </span>
    ),
    onCard: "figure",
  },
];

/** Every system that the gateway manages, configured or not, for the user to open. */
export function SystemsTable({ backends }: { readonly backends: readonly Backend[] }) {
  const off = backends.filter((backend) => !isServed(backend)).length;
  return (
    <details class="systems">
      <summary>
        Systems: {backends.length - off} configured{off > 0 && `, ${off} not configured`}
      </summary>
      <DataTable
        name="systems"
        caption="Systems of this gateway"
        columns={columns}
        rows={backends}
        keyOf={({ domain, name }) => `${domain} ${name}`}
        titleOf={nameOf}
        statusOf={statusOf}
        empty="No systems."
      />
    </details>
  );
}

function nameOf({ name, domain }: Backend): string {
  return name || domain;
}

function statusOf({ kind, health }: Backend): { readonly kind: StatusKind; readonly text: string } {
  if (kind === BackendKind.OFF) {
    return { kind: "off", text: "not configured" };
  }
  if (kind === BackendKind.NOT_BUILT) {
    return { kind: "off", text: "not in this version" };
  }
  return statuses[health] ?? { kind: "unknown", text: "not checked yet" };
}

const statuses: Readonly<Record<number, { readonly kind: StatusKind; readonly text: string }>> = {
  [BackendHealth.OK]: { kind: "ok", text: "healthy" },
  [BackendHealth.DEGRADED]: { kind: "warn", text: "degraded" },
  [BackendHealth.UNAVAILABLE]: { kind: "failed", text: "unreachable" },
};
