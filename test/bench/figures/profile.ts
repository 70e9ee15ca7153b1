import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The parts of a `.cpuprofile` that are used. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  /** Id of the sampled node, and microseconds since the sample before. */
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Microseconds that a function itself ran, without the functions it called. */
export interface SelfTime {
  /** The project's file, the package or the part of Node; in brackets for V8's own work. */
  readonly module: string;
  /** `name:line` */
  readonly fn: string;
  readonly us: number;
}

/**
 * Returns the self time of every function, the longest first. Idle time does not count.
 * @param root of this repository: each file below it is a separate module
 */
export function selfTimesOf(profile: CpuProfile, root: string): SelfTime[] {
  const usByNode = new Map<number, number>();
  for (const [index, id] of profile.samples.entries()) {
    usByNode.set(id, (usByNode.get(id) ?? 0) + (profile.timeDeltas[index] ?? 0));
  }
  const found = new Map<string, SelfTime>();
  for (const { id, callFrame } of profile.nodes) {
    const { functionName, url, lineNumber } = callFrame;
    const us = usByNode.get(id) ?? 0;
    if (us === 0 || functionName === "(idle)" || functionName === "(root)") {
      continue;
    }
    const module = moduleOf(url, functionName, root);
    const fn = `${functionName || "(anonymous)"}:${lineNumber + 1}`;
    const key = `${module} ${fn}`;
    found.set(key, { module, fn, us: us + (found.get(key)?.us ?? 0) });
  }
  return [...found.values()].toSorted((a, b) => b.us - a.us);
}

function moduleOf(url: string, functionName: string, root: string): string {
  if (url === "") {
    return functionName.startsWith("(") ? functionName : "(native)";
  }
  const packageName = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
  if (packageName !== undefined) {
    return packageName;
  }
  const path = url.startsWith("file:") ? fileURLToPath(url) : url;
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

/** Returns the percentages of busy time as text: by module, and by function. */
export function describeSelfTimes(times: readonly SelfTime[], modules = 20, functions = 30): string {
  const allUs = times.reduce((sum, { us }) => sum + us, 0);
  const byModule = new Map<string, number>();
  for (const { module, us } of times) {
    byModule.set(module, (byModule.get(module) ?? 0) + us);
  }
  const line = (us: number, what: string) => `${((100 * us) / allUs).toFixed(1).padStart(6)} %  ${what}`;
  return [
    ...[...byModule]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, modules)
      .map(([module, us]) => line(us, module)),
    "",
    ...times.slice(0, functions).map(({ module, fn, us }) => line(us, `${fn}  ${module}`)),
  ].join("\n");
}

/** Describes the profiles of all threads in a directory, the busiest thread first. @throws Error when there are none */
export function describeProfiles(directory: string, root: string): string {
  const files = readdirSync(directory).filter((name) => name.endsWith(".cpuprofile"));
  if (files.length === 0) {
    throw new Error("no profile: hostplane does not run in a process of its own in this benchmark");
  }
  return files
    .map((name) => selfTimesOf(JSON.parse(readFileSync(join(directory, name), "utf8")), root))
    .map((times) => ({ times, seconds: times.reduce((sum, { us }) => sum + us, 0) / 1e6 }))
    .toSorted((a, b) => b.seconds - a.seconds)
    .map(
      ({ times, seconds }) => `\na thread that ran for ${seconds.toFixed(1)} s\n${describeSelfTimes(times)}`,
    )
    .join("\n");
}
