import { toJson } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type User, UserSchema } from "../../gen/hostplane/v1/user_pb.ts";
import type { ExitCode } from "../cli/table/output.ts";
import { readPassword } from "../cli/table/read-password.ts";
import { textTable } from "../cli/table/text-table.ts";
import { messageFromError } from "../domain/message-from-error.ts";
import type { CallerRole } from "../rpc/caller.ts";
import { nameOfRole, roleFromName } from "./role.ts";
import { type AdminOptions, type CommandContext, runAdminCommand } from "./run-admin-command.ts";

export interface AddUserOptions extends AdminOptions {
  readonly role: CallerRole;
  readonly services?: readonly string[];
  readonly certificate?: readonly string[];
}

/** Creates a user. Prompts for the password, unless the user logs in with a certificate instead. */
export async function addUser(
  name: string,
  options: AddUserOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const certificateNames = [...(options.certificate ?? [])];
  const password = certificateNames.length > 0 ? "" : await passwordOrExplain(`Password of ${name}`, context);
  if (password === undefined) {
    return 2;
  }
  return runAdminCommand(options, context, async ({ users }) => {
    const services = [...(options.services ?? [])];
    await users.createUser({ name, role: roleFromName(options.role), password, services, certificateNames });
    context.output.out(`added the user ${name}: ${options.role}`);
  });
}

/** Prints all users, as a table or as a JSON array of the API's messages. */
export function listUsers(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return runAdminCommand(options, context, async (client) => {
    const { users } = await client.users.listUsers({});
    if (options.json === true) {
      const messages = users.map((user) => toJson(UserSchema, user, { alwaysEmitImplicit: true }));
      context.output.out(JSON.stringify(messages, null, 2));
      return;
    }
    const head = ["NAME", "ROLE", "SERVICES", "LOGIN METHODS", "CHANGED"];
    for (const line of textTable(head, users.map(rowFromUser))) {
      context.output.out(line);
    }
  });
}

/** Removes a user and ends all of its logins. */
export function removeUser(name: string, options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return runAdminCommand(options, context, async ({ users }) => {
    await users.deleteUser({ name });
    context.output.out(`removed the user ${name}`);
  });
}

/** Changes a user's password and ends all of its logins. */
export async function changeUserPassword(
  name: string,
  options: AdminOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const password = await passwordOrExplain(`New password of ${name}`, context);
  if (password === undefined) {
    return 2;
  }
  return runAdminCommand(options, context, async ({ users }) => {
    await users.setPassword({ name, password });
    context.output.out(`changed the password of ${name} and ended all of its logins`);
  });
}

export interface ChangeRoleOptions extends AdminOptions {
  readonly services?: readonly string[];
  readonly allServices?: boolean;
}

/** Changes a user's role. The services it is limited to stay the same, unless new ones are given. */
export function changeUserRole(
  name: string,
  role: CallerRole,
  options: ChangeRoleOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const services = options.allServices === true ? [] : options.services;
  return runAdminCommand(options, context, async ({ users }) => {
    const { user } = await users.updateUser({
      name,
      role: roleFromName(role),
      ...(services === undefined ? {} : { services: { services: [...services] } }),
    });
    context.output.out(`${name} is now ${role}, services: ${servicesText(user?.services ?? [])}`);
  });
}

async function passwordOrExplain(question: string, { output }: CommandContext): Promise<string | undefined> {
  try {
    return await readPassword(question);
  } catch (error) {
    output.err(messageFromError(error));
    return undefined;
  }
}

function rowFromUser(user: User): string[] {
  const comesBy = [...(user.hasPassword ? ["password"] : []), ...user.certificateNames].join(", ");
  const changed = user.changedAt === undefined ? "" : timestampDate(user.changedAt).toISOString();
  return [user.name, nameOfRole(user.role), servicesText(user.services), comesBy, changed];
}

/** Returns `all`, or the names. */
export function servicesText(services: readonly string[]): string {
  return services.length === 0 ? "all" : services.join(",");
}
