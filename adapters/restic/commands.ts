import type { KeepPolicy, Repository } from "./adapter.ts";
import { endpointOrigin, proxyUrl } from "./names.ts";

/** Options for calling restic on this machine. */
export interface ResticCommandOptions {
  /** The restic program with any prefix, e.g. `["sudo", "-n", "-E", "restic"]`; `["restic"]` by default. */
  readonly command?: readonly string[];
  /** Directory of restic's cache; no cache by default. */
  readonly cacheDir?: string | undefined;
  /** Host name recorded in snapshots; the machine's name by default. */
  readonly hostname?: string;
}

/**
 * Returns the argv of restic with the options that every command needs. The repository's location and credentials are
 * in the environment instead (`environmentOfRepository`), since any user can read argv.
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
 * Returns the environment with the location and credentials of a repository. A session token and proxies use the
 * variables of restic's libraries (minio-go's EnvAWS, Go's ProxyFromEnvironment). Addresses of this host never use a
 * proxy.
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

/**
 * Arguments of `backup`. `--quiet` reduces its JSON to the summary; otherwise it would print progress 60 times a
 * second.
 */
export function backupArguments(fileName: string, tags: readonly string[], hostname: string): string[] {
  return ["--quiet", "--json", "--host", hostname, ...tagged(tags), "--stdin", "--stdin-filename", fileName];
}

/** Arguments of `dump`, which writes the single file of a snapshot to stdout. */
export function dumpArguments(snapshotId: string, fileName: string): string[] {
  return ["--quiet", "--", snapshotId, `/${fileName}`];
}

/** Arguments of `snapshots`, limited to those with all of the tags. */
export function snapshotsArguments(tags: readonly string[]): string[] {
  return ["--no-lock", "--json", ...tagged(tags)];
}

/**
 * Arguments of a `forget` that removes nothing and prints what a policy would remove. All snapshots form one group,
 * rather than one per host.
 */
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
