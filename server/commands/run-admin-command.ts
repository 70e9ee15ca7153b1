import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { type AdminClient, withAdminClient } from "./admin-client.ts";
import { type ConfigOptions, loadConfigOrExplain } from "./config-options.ts";
import { type ExitCode, messageFromError, type Output } from "./output.ts";

/** The flags of every command that asks a gateway, as commander hands them over. */
export interface AdminOptions extends Pick<ConfigOptions, "config" | "data" | "set"> {
  /** The sandbox of the data directory instead of the real gateway. */
  readonly sandbox?: boolean;
  /** Lists as JSON. */
  readonly json?: boolean;
}

/** Where a command writes, and which program it belongs to. */
export interface CommandContext {
  readonly output: Output;
  readonly version: string;
}

/**
 * Does `work` with a client of the gateway that the options name. What the gateway refuses is told in its own
 * sentence: with exit code 2 where what was asked for could never be done, 1 otherwise.
 * @param mustRun as `AdminTarget` says; false if absent
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
 * How a call ended, in one sentence: the gateway's own, or that the connection broke where it had said nothing. Then
 * Connect's own words are as bare as "aborted".
 */
export function messageOfCall(error: ConnectError): string {
  const isBroken = error.code === Code.Aborted || error.code === Code.Unavailable;
  return isBroken && error.findDetails(ErrorInfoSchema).length === 0
    ? `the connection to the gateway broke off (${error.rawMessage})`
    : error.rawMessage;
}

/** Those of the options that the configuration is loaded with. */
export function configOptionsOf({ config, data, set }: AdminOptions): ConfigOptions {
  return {
    ...(config === undefined ? {} : { config }),
    ...(data === undefined ? {} : { data }),
    ...(set === undefined ? {} : { set }),
  };
}
