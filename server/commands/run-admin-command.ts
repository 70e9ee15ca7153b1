import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { type ConfigOptions, loadConfigOrExplain } from "../cli/config/config-options.ts";
import type { ExitCode, Output } from "../cli/table/output.ts";
import { type AdminClient, withAdminClient } from "../cli/target/admin-client.ts";
import { messageFromError } from "../domain/message-from-error.ts";

/** Flags of every command that calls a gateway, as commander passes them. */
export interface AdminOptions extends Pick<ConfigOptions, "config" | "data" | "set"> {
  /** Use the sandbox of the data directory instead of the real gateway. */
  readonly sandbox?: boolean;
  /** Print JSON. */
  readonly json?: boolean;
}

/** Output of a command, and the version of the program. */
export interface CommandContext {
  readonly output: Output;
  readonly version: string;
}

/**
 * Runs `work` with a client of the gateway selected by the options. When the gateway rejects a call, prints its message and
 * returns 2 if the request was invalid, 1 otherwise.
 * @param mustRun see `AdminTarget`; false if absent
 */
export async function runAdminCommand(
  options: AdminOptions,
  { output, version }: CommandContext,
  work: (client: AdminClient) => Promise<void>,
  { mustRun = false }: { readonly mustRun?: boolean } = {},
): Promise<ExitCode> {
  const loaded = await loadConfigOrExplain(configOptionsOf(options), output);
  if (loaded === undefined) {
    return 2;
  }
  const target = { config: loaded.config, isSandbox: options.sandbox === true, version, mustRun };
  try {
    await withAdminClient(target, work);
    return 0;
  } catch (error) {
    output.err(error instanceof ConnectError ? messageOfCall(error) : messageFromError(error));
    return error instanceof ConnectError && error.code === Code.InvalidArgument ? 2 : 1;
  }
}

/**
 * Describes a failed call in one sentence: the gateway's own message, or that the connection broke if the gateway sent none.
 * Connect's own text for that is as bare as "aborted".
 */
export function messageOfCall(error: ConnectError): string {
  const isBroken = error.code === Code.Aborted || error.code === Code.Unavailable;
  return isBroken && error.findDetails(ErrorInfoSchema).length === 0
    ? `the connection to the gateway was lost (${error.rawMessage})`
    : error.rawMessage;
}

/** Selects the options that the configuration is loaded with. */
export function configOptionsOf({ config, data, set }: AdminOptions): ConfigOptions {
  return {
    ...(config === undefined ? {} : { config }),
    ...(data === undefined ? {} : { data }),
    ...(set === undefined ? {} : { set }),
  };
}
