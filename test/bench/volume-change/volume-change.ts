import { once } from "node:events";
import { connect } from "node:http2";
import { join } from "node:path";
import type { Bench, BenchRun } from "../bench.ts";
import { callGrpc } from "../load/grpc-call.ts";
import { openedRun } from "../load/opened-run.ts";
import { serverCore } from "../load/pinned.ts";
import { type BenchProcess, startBenchProcess } from "../servers/bench-process.ts";
import type { ChangedVolumes } from "./changed-volumes.ts";

/** Number of changes in a round; the CPU time of a single one is too short for the kernel's clock. */
const changes = 25;
const path = "/hostplane.v1.VolumeService/ListVolumes";

/** The first list after one of many volumes has changed, without the time that lvm takes. */
export function createListAfterChange(): Bench {
  return {
    name: "volume-list-after-change",
    what: "ListVolumes of 3,000 volumes over gRPC after one has changed, without lvm",
    baseline: "`JSON.parse` of the report of lvm",
    unit: "ms CPU",
    maxCost: 10,
    rounds: 20,
    coldRounds: 5,
    start: (nodeFlags) =>
      startRun(nodeFlags, async (gateway, opened) => {
        const { port, token } = await gateway.query("target");
        const connection = connect(`http://127.0.0.1:${port}`);
        opened.defer(() => connection.close());
        await once(connection, "connect");
        const measure = async () => {
          let sumMs = 0;
          for (let left = changes; left > 0; left -= 1) {
            const beganAtMs = await gateway.query("change");
            await callGrpc(connection, path, undefined, token);
            sumMs += (await gateway.query("cpuMs")) - beganAtMs;
          }
          return sumMs / changes;
        };
        return {
          baseline: { measure: () => gateway.query("readReports", changes) },
          ours: { measure },
        };
      }),
  };
}

/** The event of a change of one of many volumes, without the time that lvm takes. */
export function createEventOfChange(): Bench {
  const measured = (gateway: BenchProcess<ChangedVolumes>, isSingle: boolean) => ({
    measure: () => gateway.query("eventsOfChanges", { count: 5, isSingle }),
  });
  return {
    name: "volume-list-event",
    what: "a change of one of 3,000 volumes until its event is stored, without lvm",
    baseline: "the same with a single volume",
    unit: "ms",
    maxCost: 1_000,
    rounds: 20,
    coldRounds: 5,
    start: (nodeFlags) =>
      startRun(nodeFlags, async (gateway) => ({
        baseline: measured(gateway, true),
        ours: measured(gateway, false),
      })),
  };
}

function startRun(
  nodeFlags: readonly string[] | undefined,
  sidesOf: (
    gateway: BenchProcess<ChangedVolumes>,
    opened: AsyncDisposableStack,
  ) => Promise<Omit<BenchRun, "stop">>,
): Promise<BenchRun> {
  return openedRun(async (opened) => {
    const gateway = await startBenchProcess<ChangedVolumes>(
      join(import.meta.dirname, "changed-volumes.ts"),
      nodeFlags,
      serverCore,
    );
    opened.defer(() => gateway.stop());
    return { ...(await sidesOf(gateway, opened)), stop: () => opened.disposeAsync() };
  });
}
