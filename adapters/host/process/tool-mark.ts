import { readFileSync, readlinkSync } from "node:fs";
import { parseProcessStat } from "./process-facts.ts";
import type { RunOptions } from "./run-options.ts";

const variable = "HOSTPLANE_TOOL";

/** Handling of a tool whose gateway has died: stop it, ask it to stop and wait, or only wait. */
export type ToolMarkKind = "read" | "stoppable" | "mutate";

/** Identifies a tool once its gateway has died. */
export interface ToolMark {
  readonly kind: ToolMarkKind;
  /** Owner of the tool, which all gateways of one store share. */
  readonly owner: string;
  /** Pids are valid within one namespace only. */
  readonly pidNamespace: string;
  readonly gatewayPid: string;
  readonly gatewayStartedAt: string;
}

let ownGateway: string | undefined;
let owner = "unset";

/**
 * Sets the owner of the tools that this process starts from now on. Only left tools of the same owner are stopped or
 * waited for.
 */
export function setToolOwner(name: string): void {
  owner = name.replace(/[^\w-]/g, "_");
}

/** Returns the owner that `setToolOwner` last set. */
export function toolOwner(): string {
  return owner;
}

/** Returns the variable that marks every tool of this gateway in its environment; empty without proc(5). */
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

/** Returns the number of this process's pid namespace. @throws Error without proc(5) */
export function ownPidNamespace(): string {
  return readlinkSync("/proc/self/ns/pid").replace(/\D/g, "");
}

/** Finds the mark in the environment of a process. */
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
