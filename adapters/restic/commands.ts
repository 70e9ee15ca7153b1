import type { KeepPolicy, Repository } from "./adapter.ts";
import { endpointOrigin, proxyUrl } from "./names.ts";

/** How restic is called on this machine. */
export interface ResticCommandOptions {
  /** The restic program, with whatever goes in front of it: `["sudo", "-n", "-E", "restic"]`. `["restic"]` unless told. */
  readonly command?: readonly string[];
  /** Where restic keeps what it has read of repositories; nowhere unless told. */
  readonly cacheDir?: string | undefined;
  /** What snapshots say they were made on; the machine's name unless told. */
  readonly hostname?: string;
}

/**
 * argv of restic with the words that every command needs. Neither where the repository is nor what opens it is among them:
 * both are in the environment (`environmentOfRepository`), since argv is everybody's to read.
 */
export function resticCommand(
  { command = ["restic"], cacheDir }: ResticCommandOptions,
  { isTlsUnverified = false }: Pick<Repository, "isTlsUnverified">,
  subcommand: string,
  args: readonly string[],
): string[] {
  return [
    ...command,
    subcommand,
    ...(cacheDir === undefined ? ["--no-cache"] : ["--cache-dir", cacheDir, "--cleanup-cache"]),
    ...(isTlsUnverified ? ["--insecure-tls"] : []),
    ...args,
  ];
}

/**
 * The environment that names and opens a repository. A session token and proxies are what restic's libraries look for
 * (minio-go's EnvAWS, Go's ProxyFromEnvironment). Addresses of the own host are never asked through a proxy.
 */
export function environmentOfRepository(repository: Repository): Record<string, string> {
  const { location, password, access, httpProxy, httpsProxy } = repository;
  return {
    RESTIC_REPOSITORY:
      location.kind === "local"
        ? location.path
        : `s3:${endpointOrigin(location.endpoint, "endpoint")}/${location.path}`,
    RESTIC_PASSWORD: password,
    ...(access === undefined
      ? {}
      : { AWS_ACCESS_KEY_ID: access.accessKeyId, AWS_SECRET_ACCESS_KEY: access.secretAccessKey }),
    ...(access?.sessionToken === undefined ? {} : { AWS_SESSION_TOKEN: access.sessionToken }),
    ...(httpProxy === undefined ? {} : { HTTP_PROXY: proxyUrl(httpProxy, "http_proxy") }),
    ...(httpsProxy === undefined ? {} : { HTTPS_PROXY: proxyUrl(httpsProxy, "https_proxy") }),
  };
}

/** Arguments of `backup`. `--quiet` leaves of its JSON only the summary; it would print progress 60 times a second. */
export function backupArguments(fileName: string, tags: readonly string[], hostname: string): string[] {
  return ["--quiet", "--json", "--host", hostname, ...tagged(tags), "--stdin", "--stdin-filename", fileName];
}

/** Arguments of `dump`, which writes the one file of a snapshot to stdout. */
export function dumpArguments(snapshotId: string, fileName: string): string[] {
  return ["--quiet", "--", snapshotId, `/${fileName}`];
}

/** Arguments of `snapshots`; those with all of the tags. */
export function snapshotsArguments(tags: readonly string[]): string[] {
  return ["--no-lock", "--json", ...tagged(tags)];
}

/** Arguments of a `forget` that removes nothing and tells what a policy would. One group of all: not one of each host. */
export function expiredArguments(tags: readonly string[], keep: KeepPolicy): string[] {
  const kept = Object.entries({ last: keep.last, daily: keep.daily, weekly: keep.weekly })
    .filter(([, count]) => count > 0)
    .flatMap(([unit, count]) => [`--keep-${unit}`, String(count)]);
  return ["--no-lock", "--dry-run", "--json", "--group-by", "", ...tagged(tags), ...kept];
}

// One --tag with commas means all of them; several would mean any.
function tagged(tags: readonly string[]): string[] {
  return tags.length === 0 ? [] : ["--tag", tags.join(",")];
}
