import { toJson } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { AuditEventSchema } from "../../gen/hostplane/v1/audit_pb.ts";
import type { ExitCode } from "../cli/table/output.ts";
import { type AdminOptions, type CommandContext, runAdminCommand } from "./run-admin-command.ts";

export interface ExportAuditOptions extends AdminOptions {
  readonly from?: Date;
  readonly to?: Date;
  readonly actor?: string;
  readonly address?: string;
  readonly rpc?: string;
  readonly resource?: string;
  readonly outcome?: string;
}

const pageSize = 1000;

/** Prints the audit events that match every filter, newest first, one JSON object per line. */
export function exportAudit(options: ExportAuditOptions, context: CommandContext): Promise<ExitCode> {
  const { from, to, actor = "", address = "", rpc = "", resource = "", outcome = "" } = options;
  const query = {
    pageSize,
    actor,
    address,
    rpc,
    resource,
    outcome,
    ...(from === undefined ? {} : { from: timestampFromDate(from) }),
    ...(to === undefined ? {} : { to: timestampFromDate(to) }),
  };
  return runAdminCommand(options, context, async ({ audit }) => {
    let pageToken = "";
    do {
      const page = await audit.listEvents({ ...query, pageToken });
      for (const event of page.events) {
        context.output.out(JSON.stringify(toJson(AuditEventSchema, event)));
      }
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
  });
}
