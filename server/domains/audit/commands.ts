import { AuditEventSchema, AuditService } from "../../../gen/hostplane/v1/audit_pb.ts";
import { log, type Noun } from "../../cli/table/command.ts";
import { option, time, word } from "../../cli/table/parameter.ts";

/** The audit log. */
export const auditNoun: Noun = {
  commands: [
    log({
      name: "export",
      summary: "print the audit log as JSON lines, newest first",
      isOffline: true,
      parameters: {
        from: option("at or after this time, e.g. 2026-01-31T00:00:00Z", time),
        to: option("before this time", time),
        actor: option("only this caller, e.g. user/alice", word("actor")),
        address: option("only this address", word("address")),
        rpc: option("only this method (proto.LVService/RemoveLV), or a whole service", word("rpc")),
        resource: option("only this resource or anything below it", word("resource")),
        outcome: option("only this outcome, e.g. PERMISSION_DENIED", word("outcome")),
      },
      method: AuditService.method.listEvents,
      schema: AuditEventSchema,
      items: (response) => response.events,
    }),
  ],
};
