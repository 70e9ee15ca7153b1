import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** Runs kubectl with a kubeconfig; returns its stdout, and rejects if it fails. */
export type Kubectl = (...args: readonly string[]) => Promise<string>;

/** @param file path for the kubeconfig */
export async function createKubectl(program: string, file: string, kubeconfig: string): Promise<Kubectl> {
  await writeFile(file, kubeconfig, { mode: 0o600 });
  return async (...args) => {
    const options = ["--kubeconfig", file, "--request-timeout=30s", ...args];
    return (await execute(program, options, { timeout: 60_000 })).stdout;
  };
}

/** Factor by which emulated machines may be slower than containers. */
const slowness = process.env.KUBELAB_KIND === "vm" ? 8 : 1;

/**
 * Repeats a command until its output is as expected; after the time limit it rejects with the last failure.
 * @param timeoutMs for machines that are containers; emulated ones get more
 */
export async function untilKubectl(
  query: () => Promise<string>,
  isExpected: (answer: string) => boolean,
  timeoutMs: number,
): Promise<string> {
  const endMs = performance.now() + timeoutMs * slowness;
  for (;;) {
    const answer = await query().catch((error: unknown) => error as Error);
    if (typeof answer === "string" && isExpected(answer)) {
      return answer;
    }
    if (performance.now() > endMs) {
      throw typeof answer === "string" ? new Error(`kubectl returned: ${answer}`) : answer;
    }
    await wait(1_000);
  }
}
