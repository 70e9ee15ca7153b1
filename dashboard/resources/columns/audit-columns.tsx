import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { AuditEvent } from "../../../gen/hostplane/v1/audit_pb.ts";
import type { StatusKind } from "../../parts/status.tsx";
import type { Column } from "../../parts/table/column.ts";
import { actorText } from "../../parts/text/actor-text.ts";
import { TimeText } from "../../parts/text/time-text.tsx";

/** Columns of a table of calls. */
export const auditColumns: readonly Column<AuditEvent>[] = [
  { id: "rpc", title: "RPC", cell: ({ rpc }) => shortRpc(rpc), sortBy: ({ rpc }) => rpc },
  {
    id: "resource",
    title: "Resource",
    width: "wide",
    rank: 2,
    cell: ({ resource }) => resource,
    onCard: "figure",
  },
  {
    id: "actor",
    title: "By",
    width: "medium",
    cell: ({ actor }) => actorText(actor),
    sortBy: ({ actor }) => actor,
    onCard: "place",
  },
  { id: "address", title: "From", width: "short", rank: 3, cell: ({ address }) => address },
  {
    id: "outcome",
    title: "Outcome",
    width: "medium",
    cell: ({ outcome, reason, count }) =>
      `${outcome === "" ? "not known" : reason === "" ? outcome : reason}${count > 1 ? `, ${count} times` : ""}`,
    onCard: "place",
  },
  {
    id: "at",
    title: "When",
    width: "time",
    isNumber: true,
    cell: ({ at }) => <TimeText at={at} />,
    sortBy: ({ at }) => (at === undefined ? undefined : timestampMs(at)),
    onCard: "place",
  },
];

/** "AuthService/Login" for "services.auth.AuthService/Login". */
function shortRpc(rpc: string): string {
  return rpc.replace(/^.*\.(?=[^./]+\/)/, "");
}

/** What every table of calls has in common. */
export const auditRow = {
  keyOf: ({ sequence }: AuditEvent) => String(sequence),
  titleOf: ({ rpc }: AuditEvent) => rpc,
  statusOf: ({ outcome }: AuditEvent): { readonly kind: StatusKind; readonly text: string } =>
    outcome === ""
      ? { kind: "unknown", text: "not known" }
      : { kind: outcome === "OK" ? "ok" : "failed", text: outcome },
  textOf: ({ resource, actor, address, outcome, reason }: AuditEvent) =>
    `${resource} ${actor} ${address} ${outcome} ${reason}`,
};
