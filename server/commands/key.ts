import type { ExitCode } from "../cli/table/output.ts";
import { type AdminOptions, type CommandContext, runAdminCommand } from "./run-admin-command.ts";

/** Creates a new key for signing logins. Logins signed with older keys stay valid until they expire. */
export function rotateKey(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return runAdminCommand(options, context, async ({ users }) => {
    const { keyId } = await users.rotateSigningKey({});
    context.output.out(
      `logins are now signed with key ${keyId}; existing logins stay valid until they expire`,
    );
  });
}
