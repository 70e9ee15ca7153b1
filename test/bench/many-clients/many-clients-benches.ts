import type { Bench, BenchRun, Goal, Side } from "../bench.ts";
import { openedRun } from "../load/opened-run.ts";
import { buildSandbox } from "../servers/built-gateway.ts";
import { type FleetSample, type FleetSize, openFleet } from "./many-clients.ts";

/** Both gateways under test, each with its clients. */
export interface Fleets {
  readonly quiet: { measure(): Promise<FleetSample> };
  readonly loaded: { measure(): Promise<FleetSample> };
}

/** One figure of a sample as a benchmark. */
export interface FleetBench {
  readonly bench: Bench;
  figureOf(sample: FleetSample): number;
}

const size = { connections: 1_000, streamsPerConnection: 5, durationMs: 10_000 } satisfies FleetSize;
const quietConnections = 1;
const streams = (size.connections * size.streamsPerConnection).toLocaleString("en");
const clients = `${streams} Watch streams on ${size.connections.toLocaleString("en")} TLS connections, 100 changes a second`;

/** Opens the gateways one after the other, because their handshakes would share a core. */
export async function openFleets(
  opened: AsyncDisposableStack,
  nodeFlags: readonly string[] = [],
  { connections, ...options }: FleetSize = size,
): Promise<Fleets> {
  const argvOf = await buildSandbox(opened, nodeFlags);
  const fleetOf = (count: number) =>
    openFleet(opened, { ...options, connections: count, argvOf, isPinned: true });
  const quiet = await fleetOf(quietConnections);
  return { quiet, loaded: await fleetOf(connections) };
}

/** The figures with goals, for many dashboards at once. */
export const fleetBenches: readonly FleetBench[] = [
  fleetBench(
    "memory",
    "maximum resident memory of the gateway",
    "MB",
    { maxCost: 350 },
    ({ rssMb }) => rssMb,
  ),
  fleetBench(
    "events",
    "from a change's request to its arrival on a stream, 99th percentile",
    "ms",
    { maxCost: 250 },
    ({ eventP99Ms }) => eventP99Ms,
  ),
  fleetBench(
    "lists",
    "100 GetLVList calls a second, 99th percentile",
    "ms",
    { maxCost: 10 },
    ({ listP99Ms }) => listP99Ms,
  ),
];

function fleetBench(
  name: string,
  what: string,
  unit: string,
  goal: Goal,
  figureOf: FleetBench["figureOf"],
): FleetBench {
  const sideOf = (fleet: Fleets["quiet"]): Side => ({ measure: async () => figureOf(await fleet.measure()) });
  const bench: Bench = {
    name: `many-clients-${name}`,
    what: `${clients}: ${what}`,
    baseline: "the same with 5 streams on one connection",
    unit,
    ...goal,
    rounds: 5,
    coldRounds: 1,
    isLab: true,
    skipReason: () => (process.platform === "linux" ? false : "needs /proc of Linux"),
    start: (nodeFlags) =>
      openedRun(async (opened): Promise<BenchRun> => {
        const { quiet, loaded } = await openFleets(opened, nodeFlags);
        return { baseline: sideOf(quiet), ours: sideOf(loaded), stop: () => opened.disposeAsync() };
      }),
  };
  return { bench, figureOf };
}
