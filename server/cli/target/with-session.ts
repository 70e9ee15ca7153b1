import { Code, ConnectError } from "@connectrpc/connect";
import { InvalidArgumentError } from "commander";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { messageFromError } from "../../domain/message-from-error.ts";
import type { ExitCode, Output } from "../table/output.ts";
import type { Session } from "../table/session.ts";
import { UsageError } from "../table/usage-error.ts";
import { contextNamed, contextsFile, type RemoteContext, readContexts } from "./contexts.ts";
import { readTimeoutMs } from "./transport-session.ts";

/** Flags of every command that calls a gateway, as commander passes them. */
export interface TargetOptions {
  readonly config?: string;
  readonly data?: string;
  readonly set?: readonly string[];
  /** Use the sandbox of the data directory instead of the real gateway. */
  readonly sandbox?: boolean;
  /** A remote gateway, or `local`. */
  readonly context?: string;
}

/** Output of a command, and the version of the program. */
export interface CommandContext {
  readonly output: Output;
  readonly version: string;
}

/** Name of the context that means the gateway of this host. */
export const localContext = "local";

/**
 * Runs `work` with the gateway selected by the options: a context if one is named, the local gateway if an option selects its
 * data, otherwise the current context. When a call fails, prints why and returns 2 if the request was invalid, 1 otherwise.
 */
export async function withSession(
  options: TargetOptions,
  { output, version }: CommandContext,
  { mustRun }: { readonly mustRun: boolean },
  work: (session: Session) => Promise<ExitCode>,
): Promise<ExitCode> {
  let remote: RemoteContext | undefined;
  try {
    remote = await selectedContext(options);
    if (remote !== undefined) {
      const { openRemoteSession } = await import("./remote-gateway.ts");
      const { session, close } = await openRemoteSession(remote);
      try {
        return await work(session);
      } finally {
        close();
      }
    }
    const { loadConfigOrExplain } = await import("../config/config-options.ts");
    const loaded = await loadConfigOrExplain(configOptionsOf(options), output);
    if (loaded === undefined) {
      return 2;
    }
    const { withLocalGateway } = await import("./local-gateway.ts");
    const target = { config: loaded.config, isSandbox: options.sandbox === true, version, mustRun };
    return await withLocalGateway(target, work);
  } catch (error) {
    return explainFailure(error, remote?.url, output);
  }
}

/** Returns the remote gateway that the options select; undefined for the local one. @throws Error when there is no such context */
export async function selectedContext(
  options: TargetOptions,
  env: NodeJS.ProcessEnv = process.env,
): Promise<RemoteContext | undefined> {
  const named = options.context || env.HOSTPLANE_CONTEXT || undefined;
  const isLocal = ["config", "data", "set", "sandbox"].some((key) => Object.hasOwn(options, key));
  if (named === localContext || (named === undefined && isLocal)) {
    return undefined;
  }
  const contexts = await readContexts(contextsFile(env));
  const name = named ?? contexts.current;
  return name === undefined ? undefined : contextNamed(contexts, name);
}

/**
 * Prints why a command failed, and returns its exit code.
 * @param url the gateway, if it is remote
 */
export function explainFailure(error: unknown, url: string | undefined, output: Output): ExitCode {
  if (!(error instanceof ConnectError)) {
    output.err(messageFromError(error));
    return error instanceof UsageError || error instanceof InvalidArgumentError ? 2 : 1;
  }
  const isRefused = url !== undefined && error.code === Code.Unauthenticated;
  const hint = isRefused ? `; log in again: hostplane login ${url}` : "";
  output.err(`${messageOfCall(error, url)}${hint}`);
  return error.code === Code.InvalidArgument ? 2 : 1;
}

/**
 * Describes a failed call in one sentence: the gateway's own message, or that the connection broke if the gateway sent none.
 * Connect's own text for that is as bare as "aborted".
 */
export function messageOfCall(error: ConnectError, url?: string): string {
  if (error.code === Code.DeadlineExceeded && error.findDetails(ErrorInfoSchema).length === 0) {
    return `${url ?? "the gateway"} did not answer within ${readTimeoutMs / 1_000} s`;
  }
  const isBroken = error.code === Code.Aborted || error.code === Code.Unavailable;
  if (error.findDetails(ErrorInfoSchema).length > 0 || !(isBroken || error.cause !== undefined)) {
    return error.rawMessage;
  }
  const why = error.cause instanceof Error ? messageFromError(error.cause) : error.rawMessage;
  return url === undefined
    ? `the connection to the gateway was lost (${why})`
    : `no connection to ${url}: ${why}`;
}

/** Selects the options that the configuration is loaded with. */
export function configOptionsOf({
  config,
  data,
  set,
}: TargetOptions): Omit<TargetOptions, "context" | "sandbox"> {
  return {
    ...(config === undefined ? {} : { config }),
    ...(data === undefined ? {} : { data }),
    ...(set === undefined ? {} : { set }),
  };
}
