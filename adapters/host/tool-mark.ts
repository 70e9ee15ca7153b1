import { readFileSync, readlinkSync } from "node:fs";
import { parseProcessStat } from "./process-facts.ts";
import type { RunOptions } from "./run-options.ts";

const variable = "HOSTPLANE_TOOL";

/** What may be done to a tool whose gateway has died: end it, ask it to stop and wait, or wait. */
export type ToolMarkKind = "read" | "stoppable" | "mutate";

/** By what a tool is recognised once its gateway has died. */
export interface ToolMark {
  readonly kind: ToolMarkKind;
  /** Whose tools they are: gateways of one store share it. */
  readonly owner: string;
  /** Pids mean something within one namespace only. */
  readonly pidNamespace: string;
  readonly gatewayPid: string;
  readonly gatewayStartedAt: string;
}

let ownGateway: string | undefined;
let owner = "unset";

/** Sets whose tools this process starts from now on: those are the left tools that it may end, and waits for. */
export function setToolOwner(name: string): void {
  owner = name.replace(/[^\w-]/g, "_");
}

/** As `setToolOwner` was last called. */
export function toolOwner(): string {
  return owner;
}

/** The variable that every tool of this gateway has in its environment; none where there is no proc(5). */
export function toolMarkOf(options: RunOptions): Readonly<Record<string, string>> {
  ownGateway ??= describeOwnProcess();
  const kind: ToolMarkKind =
    options.kind === "mutate" && options.stop !== undefined ? "stoppable" : options.kind;
  return ownGateway === "" ? {} : { [variable]: `${kind}:${owner}:${ownGateway}` };
}

function describeOwnProcess(): string {
  try {
    const facts = parseProcessStat(readFileSync("/proc/self/stat", "latin1"));
    return `${ownPidNamespace()}:${process.pid}:${facts?.startedAt}`;
  } catch {
    return "";
  }
}

/** The number of the pid namespace that this process is in. @throws Error where there is no proc(5) */
export function ownPidNamespace(): string {
  return readlinkSync("/proc/self/ns/pid").replace(/\D/g, "");
}

/** Finds the mark among the variables of a process. */
export function parseToolMark(environment: readonly string[]): ToolMark | undefined {
  for (const entry of environment) {
    const match = /^HOSTPLANE_TOOL=(read|stoppable|mutate):([\w-]+):(\d+):(\d+):(\d+)$/.exec(entry);
    if (match !== null) {
      const [, kind, markedOwner = "", pidNamespace = "", gatewayPid = "", gatewayStartedAt = ""] = match;
      return { kind: kind as ToolMarkKind, owner: markedOwner, pidNamespace, gatewayPid, gatewayStartedAt };
    }
  }
  return undefined;
}
