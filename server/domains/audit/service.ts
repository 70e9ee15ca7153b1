import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type AuditEventSchema, AuditService } from "../../../gen/hostplane/v1/audit_pb.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { pageTokenFrom } from "../../rpc/listing/page-token.ts";
import type { Store } from "../../store/store.ts";
import { parseEventQuery } from "./event-query.ts";
import { type EventRow, readEvents } from "./read-events.ts";

/** Creates hostplane.v1.AuditService, which lists audit events. */
export function createAuditService(store: Pick<Store, "run">): ServiceRegistration {
  return registerService(AuditService, {
    async listEvents(request, call) {
      const query = parseEventQuery(request);
      const { rows, nextSeq } = await readEvents(store, query, call.signal);
      return {
        events: rows.map(eventMessage),
        nextPageToken: nextSeq === undefined ? "" : pageTokenFrom(nextSeq, query.filters),
      };
    },
  });
}

function eventMessage(row: EventRow): MessageInitShape<typeof AuditEventSchema> {
  return {
    sequence: BigInt(row.seq),
    at: timestampFromMs(row.at),
    ...(row.ended_at === null ? {} : { endedAt: timestampFromMs(row.ended_at) }),
    actor: row.actor,
    accountId: row.account_id,
    credential: row.credential,
    address: row.address,
    listener: row.listener,
    rpc: row.rpc,
    resource: row.resource ?? "",
    outcome: row.code ?? "",
    reason: row.reason ?? "",
    operationId: row.operation_id ?? "",
    requestId: row.request_id,
    request: row.request_json ?? "",
    count: row.count,
    sandbox: row.backend === "sandbox",
    host: row.host,
    planId: row.plan_id ?? "",
    approvedBy: row.approved_by_json === null ? [] : JSON.parse(row.approved_by_json),
  };
}
