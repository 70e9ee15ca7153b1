import type { ExitCode } from "../table/output.ts";

/** Number of hosts that a command calls at the same time. */
const maxConcurrent = 8;

/**
 * Runs work for each host, several at a time.
 * @param isLive whether the work lasts, so that none must wait for another
 * @returns the exit codes, in the order of the hosts
 */
export async function eachHost(
  hosts: readonly string[],
  isLive: boolean,
  work: (host: string) => Promise<ExitCode>,
): Promise<readonly ExitCode[]> {
  const codes = new Map<string, ExitCode>();
  const waiting = hosts.values();
  const workers = isLive ? hosts.length : Math.min(maxConcurrent, hosts.length);
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (const host of waiting) {
        codes.set(host, await work(host));
      }
    }),
  );
  return hosts.map((host) => codes.get(host) ?? 1);
}

/** Returns the exit code of a command on several hosts: 2 only if all hosts have refused it as invalid. */
export function exitCodeOf(codes: readonly ExitCode[]): ExitCode {
  if (codes.every((code) => code === 0)) {
    return 0;
  }
  return codes.every((code) => code === 2) ? 2 : 1;
}
