import { describeSize } from "../../../../../adapters/host/describe-size.ts";
import { factsOf } from "../../../../operations/plan-facts.ts";
import type { LeavingDevice } from "../storage-pool.ts";
import type { PoolChange } from "./pool-change.ts";
import {
  assertMeant,
  type PoolResult,
  type PoolRun,
  type PoolStep,
  type PoolTools,
  poolKind,
  refreshFailureOf,
  refreshStep,
} from "./pool-run.ts";

/**
 * storagePool.shrink: chooses devices, closes them to new data, moves their data away, removes them from the pool and frees
 * them. An interrupted move resumes; after a cancelled one, data that was moved stays where it is.
 */
export function createShrinkPool(tools: PoolTools): PoolChange {
  const { pool } = tools;
  return {
    kind: {
      kind: "storagePool.shrink",
      ...poolKind,
      steps: [chooseStep(tools), reserveStep(tools), moveStep(tools), removeStep(tools), refreshStep(tools)],
      pointOfNoReturn: "remove",
      result: (run): PoolResult => ({
        devices: chosenBy(run).devices.map(({ path }) => path),
        bytes: chosenBy(run).bytes,
        refreshFailure: refreshFailureOf(run),
      }),
    },
    choose: pool.planShrink,
    describe: ({ bytes, devices, movedBytes }) => {
      const moved =
        movedBytes === 0n ? "no data has to be moved" : `${describeSize(movedBytes)} of data is moved first`;
      const what = `${devices.join(", ")} is removed and freed`;
      return {
        changes: [`${pool.name} shrinks by ${describeSize(bytes)}: ${what}; ${moved}`],
        losses: [],
        facts: factsOf("storagePool", {
          devices: devices.join(", "),
          devicesBytes: bytes,
          movedBytes,
        }),
      };
    },
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
      left: [`${namesOf(run)} may still be closed to new data.`],
      advice: chosenBy(run)
        .devices.filter(({ allocatable }) => allocatable)
        .map(
          ({ path }) =>
            `Open it with \`${pool.shown(["pvchange", "--allocatable", "y", path])}\`, or retry the operation.`,
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
      left: [`Data of ${namesOf(run)} may be partly moved to other devices; no data is lost.`],
      advice: [
        `\`${pool.shown(["pvmove"])}\` without arguments resumes the move, \`${pool.shown(["pvmove", "--abort"])}\` aborts it.`,
      ],
    }),
  };
}

function removeStep({ pool, changes }: PoolTools): PoolStep {
  return {
    name: "remove",
    title: "removing devices",
    weight: 5,
    isAbortable: false,
    async forward(run) {
      const { input, operationId, progress } = run;
      const { devices, bytes } = chosenBy(run);
      await changes.during({ operationId, effect: "shrinks" }, () => pool.remove(input.identity, devices));
      progress({
        message: `${pool.name} has shrunk by ${describeSize(BigInt(bytes))}; ${namesOf(run)} is free`,
      });
      return null;
    },
    undo: ({ input, operationId, output }) =>
      changes.during({ operationId, effect: "grows" }, () =>
        pool.putBack(input.identity, chosenBy({ output }).devices),
      ),
    attention: (run) => ({
      left: [`${namesOf(run)} may be removed from ${pool.name}, in part or all; it holds no data.`],
      advice: ["Run `hostplane pool show`, fix the cause of the error, then retry the operation."],
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
