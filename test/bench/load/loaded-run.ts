import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BenchRun, Side } from "../bench.ts";
import { startBenchProcess } from "../servers/bench-process.ts";
import { type Load, runH2load } from "./h2load.ts";
import { openedRun } from "./opened-run.ts";
import { serverCore } from "./pinned.ts";
import type { Target } from "./target.ts";

/** The questions that a server under load answers. */
export type LoadedServer = Readonly<{ target: () => Promise<Target>; cpuMs: () => number }>;

/** A server, and how to call it. */
export interface LoadedSide {
  /** A TypeScript file that answers as `LoadedServer`. */
  readonly file: string;
  readonly load: Load;
}

export interface LoadedSides {
  readonly baseline: LoadedSide;
  readonly ours: LoadedSide;
  /** Body of each request, for both sides. */
  readonly body: Uint8Array;
  /** Number of requests in a round. */
  readonly requests: number;
  /** Minimum size of a response; a smaller one is wrong. */
  readonly answerMinBytes: number;
  /** Converts the CPU time of a round's requests in the server's process to the figure. */
  readonly unitOf: (cpuMs: number, requests: number) => number;
}

/** Starts two servers that get the same load one after the other. Both must return responses of the same size. */
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
        `responses have ${ours.answerBytes} bytes, those of the baseline ${baseline.answerBytes}`,
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
  const target = await server.query("target");
  // A failed gRPC call also has status 200, but no message.
  const { dataBytes: answerBytes } = await runH2load(target, load, 1, bodyFile);
  if (answerBytes < answerMinBytes) {
    throw new Error(`${file} responds with ${answerBytes} bytes; expected at least ${answerMinBytes}`);
  }
  return {
    answerBytes,
    async measure() {
      const before = await server.query("cpuMs");
      const { dataBytes } = await runH2load(target, load, requests, bodyFile);
      const cpuMs = (await server.query("cpuMs")) - before;
      if (dataBytes !== requests * answerBytes) {
        throw new Error(`${requests} responses of ${file} have ${dataBytes} bytes, not ${answerBytes} each`);
      }
      return unitOf(cpuMs, requests);
    },
  };
}

/** Returns the microseconds of CPU time per request. */
export function usPerRequest(cpuMs: number, requests: number): number {
  return (cpuMs * 1_000) / requests;
}

/** Returns the number of requests per second of CPU time. */
export function requestsPerCpuSecond(cpuMs: number, requests: number): number {
  return (requests * 1_000) / cpuMs;
}
