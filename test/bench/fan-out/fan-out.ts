import { join } from "node:path";
import type { Bench, Side } from "../bench.ts";
import { loadCore, serverCore } from "../load/pinned.ts";
import type { Target } from "../load/target.ts";
import { type BenchProcess, startBenchProcess } from "../servers/bench-process.ts";

/** The questions that both servers answer. */
export type FanOutServer = Readonly<{
  target: () => Promise<Target>;
  /** Publishes one event to all subscribers; `count` is its number. */
  publish: (count: number) => Promise<void>;
  cpuMs: () => number;
}>;

export interface Subscription {
  readonly target: Target;
  readonly subscribers: number;
  readonly connections: number;
}

/** The questions that the subscribers' process answers. */
export type FanOutClients = Readonly<{
  /** Resolves when all subscribers have received their first message. */
  subscribe: (subscription: Subscription) => Promise<void>;
  /** Resolves when every subscriber has received `count` events since it subscribed. */
  received: (count: number) => Promise<void>;
}>;

export interface FanOutSize {
  readonly subscribers: number;
  readonly connections: number;
  /** Number of events in a round. Rounds are short, so that both sides of a pair run under the same load of the machine. */
  readonly events: number;
}

/** One event to many gRPC subscribers, compared with one buffer written to as many bare HTTP/2 streams. */
export function createFanOut(size: FanOutSize = { subscribers: 1_000, connections: 10, events: 25 }): Bench {
  const { subscribers, connections } = size;
  return {
    name: "fan-out",
    what: `an event to ${subscribers.toLocaleString("en")} gRPC subscribers over ${connections} connections`,
    baseline: "`node:http2` writing one buffer to as many streams",
    unit: "ms CPU",
    maxRatio: 2,
    rounds: 60,
    coldRounds: 20,
    async start(nodeFlags = []) {
      const baseline = await startSide("bare-server.ts", size, []);
      const ours = await startSide("event-server.ts", size, nodeFlags);
      return {
        baseline,
        ours,
        stop: async () => void (await Promise.all([baseline.stop(), ours.stop()])),
      };
    },
  };
}

async function startSide(
  file: string,
  { subscribers, connections, events }: FanOutSize,
  nodeFlags: readonly string[],
): Promise<Side & { stop(): Promise<void> }> {
  const start = <A extends FanOutServer | FanOutClients>(
    name: string,
    flags: readonly string[],
    core: number,
  ) => startBenchProcess<A>(join(import.meta.dirname, name), flags, core);
  const server: BenchProcess<FanOutServer> = await start(file, nodeFlags, serverCore);
  const clients: BenchProcess<FanOutClients> = await start("subscribers.ts", [], loadCore);
  await clients.query("subscribe", { target: await server.query("target"), subscribers, connections });
  let published = 0;
  return {
    async measure() {
      const before = await server.query("cpuMs");
      for (let count = 0; count < events; count += 1) {
        published += 1;
        const received = clients.query("received", published);
        await server.query("publish", published);
        // One after the other: otherwise the machine's load decides how many events are sent together.
        await received;
      }
      return ((await server.query("cpuMs")) - before) / events;
    },
    async stop() {
      await clients.stop();
      await server.stop();
    },
  };
}
