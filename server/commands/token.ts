import { toJson } from "@bufbuild/protobuf";
import { durationFromMs, type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type ApiToken, ApiTokenSchema } from "../../gen/hostplane/v1/user_pb.ts";
import type { ExitCode } from "../cli/table/output.ts";
import { textTable } from "../cli/table/text-table.ts";
import type { CallerRole } from "../rpc/caller.ts";
import { nameOfRole, roleFromName } from "./role.ts";
import { type AdminOptions, type CommandContext, runAdminCommand } from "./run-admin-command.ts";
import { servicesText } from "./user.ts";

export interface CreateTokenOptions extends AdminOptions {
  readonly role: CallerRole;
  readonly services?: readonly string[];
  readonly days?: number;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Creates an API token. Only the token goes to stdout, and it is shown only once. */
export function createToken(
  name: string,
  options: CreateTokenOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return runAdminCommand(options, context, async ({ users }) => {
    const { token } = await users.createApiToken({
      name,
      role: roleFromName(options.role),
      services: [...(options.services ?? [])],
      ...(options.days === undefined ? {} : { lifetime: durationFromMs(options.days * dayMs) }),
    });
    context.output.out(token);
    context.output.err(`the token ${name} is shown only once; only its hash is stored`);
  });
}

/** Lists all active tokens, without their secrets. */
export function listTokens(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return runAdminCommand(options, context, async ({ users }) => {
    const { tokens } = await users.listApiTokens({});
    if (options.json === true) {
      const messages = tokens.map((token) => toJson(ApiTokenSchema, token, { alwaysEmitImplicit: true }));
      context.output.out(JSON.stringify(messages, null, 2));
      return;
    }
    const head = ["NAME", "ROLE", "SERVICES", "CREATED BY", "EXPIRES", "LAST USED"];
    for (const line of textTable(head, tokens.map(rowFromToken))) {
      context.output.out(line);
    }
  });
}

/** Revokes a token, effective immediately. */
export function revokeToken(name: string, options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return runAdminCommand(options, context, async ({ users }) => {
    await users.revokeApiToken({ name });
    context.output.out(`revoked the token ${name}`);
  });
}

function rowFromToken(token: ApiToken): string[] {
  const { name, role, services, createdBy, expiresAt, lastUsedAt } = token;
  return [
    name,
    nameOfRole(role),
    servicesText(services),
    createdBy,
    timeText(expiresAt),
    timeText(lastUsedAt),
  ];
}

function timeText(time: Timestamp | undefined): string {
  return time === undefined ? "never" : timestampDate(time).toISOString();
}
