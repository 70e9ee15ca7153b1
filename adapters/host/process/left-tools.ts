import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { discardMemoryFile } from "./memory-file.ts";
import { outputFileName } from "./output-files.ts";
import {
  isRunning,
  listPids,
  readProcessEnvironment,
  readProcessFacts,
  readProcessLink,
} from "./process-facts.ts";
import { ownPidNamespace, parseToolMark, type ToolMarkKind, toolOwner } from "./tool-mark.ts";
import { killGroup } from "./tool-process.ts";

const killAfterMs = 500;
const pollEveryMs = 25;
const slowPollEveryMs = 250;

/** A tool that still runs although the gateway that started it has died. */
export interface LeftTool {
  readonly pid: string;
  readonly kind: ToolMarkKind;
  /** Process group. */
  readonly group: number;
}

/**
 * Waits until no tool left by a dead gateway can change anything any more. Reading tools are stopped (SIGTERM, SIGKILL
 * half a second later). Interruptible tools get SIGTERM and are waited for. Other mutating tools are waited for,
 * without a limit.
 *
 * The output of tools that are waited for is discarded.
 *
 * Finds tools of the same owner (`setToolOwner`), started by this user in this pid namespace. A tool started with sudo
 * is not found, because sudo drops the mark.
 * @param options.onWaiting called once if a tool is still waited for after a second
 * @param options.signal ends the wait without an error
 */
export async function settleLeftTools(
  options: { readonly signal?: AbortSignal; readonly onWaiting?: (tools: readonly LeftTool[]) => void } = {},
): Promise<void> {
  await pollLeftTools(options, (tools) => tools);
}

/**
 * Like `settleLeftTools`, but ignores interruptible tools: other changes run beside those anyway, and the operation
 * that resumes one stops it.
 */
export async function settleLeftCommands(
  options: Parameters<typeof settleLeftTools>[0] & object,
): Promise<void> {
  await pollLeftTools(options, (tools) => tools.filter(({ kind }) => kind !== "stoppable"));
}

async function pollLeftTools(
  { signal, onWaiting }: Parameters<typeof settleLeftTools>[0] & object,
  choose: (tools: readonly LeftTool[]) => readonly LeftTool[],
): Promise<void> {
  const startedAtMs = performance.now();
  // By group, since a tool that starts processes while it stops would get another SIGTERM for each of them.
  const signalledGroups = new Set<number>();
  let hasWarned = false;
  // Twice, since a process has no environment for a moment during execve(2).
  for (let emptyPolls = 0; emptyPolls < 2 && signal?.aborted !== true; ) {
    const tools = choose(await listLeftTools());
    await Promise.all(tools.map(discardOutput));
    emptyPolls = tools.length === 0 ? emptyPolls + 1 : 0;
    const elapsedMs = performance.now() - startedAtMs;
    for (const { kind, group } of tools) {
      if (kind === "read") {
        killGroup(group, elapsedMs < killAfterMs ? "SIGTERM" : "SIGKILL");
      } else if (kind === "stoppable" && !signalledGroups.has(group)) {
        signalledGroups.add(group);
        killGroup(group, "SIGTERM");
      }
    }
    if (elapsedMs > 1_000 && tools.length > 0 && !hasWarned) {
      hasWarned = true;
      onWaiting?.(tools);
    }
    await sleep(elapsedMs < 1_000 ? pollEveryMs : slowPollEveryMs, undefined, { signal }).catch(() => {});
  }
}

/** Discards output that nothing reads any more; it would grow for as long as the tool runs. */
async function discardOutput({ pid, kind }: LeftTool): Promise<void> {
  if (kind !== "read") {
    const files = ["1", "2"].map((fd) => discardMemoryFile(`/proc/${pid}/fd/${fd}`, outputFileName));
    // A tool that has just exited has no files.
    await Promise.allSettled(files);
  }
}

async function listLeftTools(): Promise<readonly LeftTool[]> {
  if (process.platform !== "linux") {
    return [];
  }
  const pidNamespace = ownPidNamespace();
  const found = await Promise.all((await listPids()).map((pid) => readLeftTool(pid, pidNamespace)));
  return found.filter((tool) => tool !== undefined);
}

async function readLeftTool(pid: string, pidNamespace: string): Promise<LeftTool | undefined> {
  const mark = parseToolMark(await readProcessEnvironment(pid));
  if (mark?.owner !== toolOwner() || mark.pidNamespace !== pidNamespace) {
    return undefined;
  }
  if (await isRunning(mark.gatewayPid, mark.gatewayStartedAt)) {
    return undefined;
  }
  const [facts, owner, stdout, stderr] = await Promise.all([
    readProcessFacts(pid),
    stat(`/proc/${pid}`).catch(() => undefined),
    readProcessLink(pid, "fd/1"),
    readProcessLink(pid, "fd/2"),
  ]);
  // A daemon started by LVM (dmeventd) inherits the mark and keeps running, but it has closed the output.
  const isTool = mark.kind === "read" || [stdout, stderr].some((link) => link.includes(outputFileName));
  return facts === undefined ||
    ["Z", "X"].includes(facts.state) ||
    owner?.uid !== process.geteuid?.() ||
    !isTool
    ? undefined
    : { pid, kind: mark.kind, group: facts.group };
}
