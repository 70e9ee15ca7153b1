import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BenchRun, Side } from "./bench.ts";
import { startBenchProcess } from "./bench-process.ts";
import { type Load, runH2load } from "./h2load.ts";
import { openedRun } from "./opened-run.ts";
import { serverCore } from "./pinned.ts";
import type { Target } from "./target.ts";

/** What a server under load can be asked. */
export type LoadedServer = Readonly<{ target: () => Promise<Target>; cpuMs: () => number }>;

/** A server, and how it is asked. */
export interface LoadedSide {
  /** A TypeScript file that answers as `LoadedServer`. */
  readonly file: string;
  readonly load: Load;
}

export interface LoadedSides {
  readonly baseline: LoadedSide;
  readonly ours: LoadedSide;
  /** What each request sends to either. */
  readonly body: Uint8Array;
  /** In a round. */
  readonly requests: number;
  /** A smaller answer is not the one that is wanted. */
  readonly answerMinBytes: number;
  /** What a side has measured, of the CPU time that its process took for the requests of a round. */
  readonly unitOf: (cpuMs: number, requests: number) => number;
}

/** Two servers, one after the other under the same load. Both must give answers of the same size. */
export function startLoadedRun(sides: LoadedSides, nodeFlags: readonly string[] = []): Promise<BenchRun> {
  return openedRun(async (opened) => {
    const directory = await mkdtemp(join(tmpdir(), "hostplane-bench-"));
    opened.defer(() => rm(directory, { recursive: true }));
    const bodyFile = join(directory, "body");
    await writeFile(bodyFile, sides.body);
    const baseline = await startSide(opened, sides.baseline, sides, bodyFile, []);
    const ours = await startSide(opened, sides.ours, sides, bodyFile, nodeFlags);
    if (baseline.answerBytes !== ours.answerBytes) {
      throw new Error(
        `answers have ${ours.answerBytes} bytes, those of the baseline ${baseline.answerBytes}`,
      );
    }
    return { baseline, ours, stop: () => opened.disposeAsync() };
  });
}

async function startSide(
  opened: AsyncDisposableStack,
  { file, load }: LoadedSide,
  { requests, answerMinBytes, unitOf }: LoadedSides,
  bodyFile: string,
  nodeFlags: readonly string[],
): Promise<Side & { readonly answerBytes: number }> {
  const server = await startBenchProcess<LoadedServer>(file, nodeFlags, serverCore);
  opened.defer(() => server.stop());
  const target = await server.ask("target");
  // A call of gRPC that failed has status 200 as well, but no message.
  const { dataBytes: answerBytes } = await runH2load(target, load, 1, bodyFile);
  if (answerBytes < answerMinBytes) {
    throw new Error(`${file} answers with ${answerBytes} bytes`);
  }
  return {
    answerBytes,
    async measure() {
      const before = await server.ask("cpuMs");
      const { dataBytes } = await runH2load(target, load, requests, bodyFile);
      const cpuMs = (await server.ask("cpuMs")) - before;
      if (dataBytes !== requests * answerBytes) {
        throw new Error(`${requests} answers of ${file} have ${dataBytes} bytes, not ${answerBytes} each`);
      }
      return unitOf(cpuMs, requests);
    },
  };
}

/** Microseconds of CPU time for one request. */
export function usPerRequest(cpuMs: number, requests: number): number {
  return (cpuMs * 1_000) / requests;
}

/** Requests that a second of CPU time is enough for. */
export function requestsPerCpuSecond(cpuMs: number, requests: number): number {
  return (requests * 1_000) / cpuMs;
}
