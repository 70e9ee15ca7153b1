import { describeSize } from "../../../../adapters/host/describe-size.ts";
import type { OperationKind } from "../../../operations/operation-kind.ts";
import {
  assertMeant,
  type PoolInput,
  type PoolResult,
  type PoolRun,
  type PoolStep,
  type PoolTools,
  refreshFailureOf,
  refreshStep,
} from "./pool-run.ts";
import type { LeavingDevice } from "./storage-pool.ts";

export const shrinkKindName = "storagePool.shrink";

/**
 * storagePool.shrink: chooses devices, closes them to new data, moves their data away, removes them from the pool and frees
 * them. An interrupted move resumes; after a cancelled one, data that was moved stays where it is.
 */
export function createShrinkKind(tools: PoolTools): OperationKind<PoolInput> {
  return {
    kind: shrinkKindName,
    system: "storagePool",
    runsOn: "host",
    steps: [chooseStep(tools), reserveStep(tools), moveStep(tools), removeStep(tools), refreshStep(tools)],
    pointOfNoReturn: "remove",
    result: (run): PoolResult => ({
      devices: chosenBy(run).devices.map(({ path }) => path),
      bytes: chosenBy(run).bytes,
      refreshFailure: refreshFailureOf(run),
    }),
  };
}

function chooseStep({ pool }: PoolTools): PoolStep {
  return {
    name: "choose",
    title: "choosing devices",
    isAbortable: true,
    async forward({ input, signal }) {
      const plan = await pool.planShrink(BigInt(input.bytes), signal);
      assertMeant(plan, input, pool.name);
      const devices = await pool.leaving(input.identity, plan.devices);
      return { devices, bytes: String(plan.bytes) };
    },
  };
}

function reserveStep({ pool }: PoolTools): PoolStep {
  return {
    name: "reserve",
    title: "closing devices to new data",
    isAbortable: false,
    async forward(run) {
      await pool.reserve(run.input.identity, chosenBy(run).devices, true);
      return null;
    },
    undo: (run) => pool.reserve(run.input.identity, chosenBy(run).devices, false),
    attention: (run) => ({
      left: [`${namesOf(run)} may be closed to new data still.`],
      advice: chosenBy(run)
        .devices.filter(({ allocatable }) => allocatable)
        .map(
          ({ path }) =>
            `Open it by \`${pool.shown(["pvchange", "--allocatable", "y", path])}\`, or retry the operation.`,
        ),
    }),
  };
}

function moveStep({ pool }: PoolTools): PoolStep {
  return {
    name: "move",
    title: "moving data away",
    weight: 100,
    isAbortable: true,
    async forward(run) {
      const { input, signal, progress } = run;
      await pool.moveAway(input.identity, chosenBy(run).devices, signal, progress);
      return null;
    },
    undo: (run) => pool.abortMove(run.input.identity, chosenBy(run).devices),
    attention: (run) => ({
      left: [`Data of ${namesOf(run)} may be on its way to other devices; all of it is there.`],
      advice: [
        `\`${pool.shown(["pvmove"])}\` without arguments goes on with it, \`${pool.shown(["pvmove", "--abort"])}\` ends it.`,
      ],
    }),
  };
}

function removeStep({ pool, changes }: PoolTools): PoolStep {
  return {
    name: "remove",
    title: "taking devices out",
    weight: 5,
    isAbortable: false,
    async forward(run) {
      const { input, operationId, progress } = run;
      const { devices, bytes } = chosenBy(run);
      await changes.during({ operationId, effect: "shrinks" }, () => pool.remove(input.identity, devices));
      progress({ message: `${pool.name} has ${describeSize(BigInt(bytes))} less; ${namesOf(run)} is free` });
      return null;
    },
    undo: ({ input, operationId, output }) =>
      changes.during({ operationId, effect: "grows" }, () =>
        pool.putBack(input.identity, chosenBy({ output }).devices),
      ),
    attention: (run) => ({
      left: [`${namesOf(run)} may be out of ${pool.name}, partly or all; no data is on it.`],
      advice: ["See `hostplane pool show`, mend what the error says, then retry the operation."],
    }),
  };
}

function chosenBy({ output }: Pick<PoolRun, "output">) {
  return output("choose") as { readonly devices: readonly LeavingDevice[]; readonly bytes: string };
}

function namesOf(run: Pick<PoolRun, "output">): string {
  return chosenBy(run)
    .devices.map(({ path }) => path)
    .join(", ");
}
