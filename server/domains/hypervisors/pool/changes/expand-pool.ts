import { describeSize } from "../../../../../adapters/host/describe-size.ts";
import { factsOf } from "../../../../operations/plan-facts.ts";
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

/** storagePool.expand: chooses spare devices once no other operation works on the pool, and adds them all at once. */
export function createExpandPool(tools: PoolTools): PoolChange {
  const { pool } = tools;
  return {
    kind: {
      kind: "storagePool.expand",
      ...poolKind,
      steps: [chooseStep(tools), addStep(tools), refreshStep(tools)],
      pointOfNoReturn: "add",
      result: (run): PoolResult => ({
        devices: devicesOf(run),
        bytes: (run.output("add") as { readonly bytes: string }).bytes,
        refreshFailure: refreshFailureOf(run),
      }),
    },
    choose: pool.planExpand,
    describe: ({ bytes, devices }) => ({
      changes: [`${pool.name} grows by ${describeSize(bytes)} on ${devices.join(", ")}`],
      losses: [],
      facts: factsOf("storagePool", { devices: devices.join(", "), devicesBytes: bytes }),
    }),
  };
}

function chooseStep({ pool }: PoolTools): PoolStep {
  return {
    name: "choose",
    title: "choosing spare devices",
    isAbortable: true,
    async forward({ input, signal }) {
      const plan = await pool.planExpand(BigInt(input.bytes), signal);
      assertMeant(plan, input, pool.name);
      return { devices: plan.devices };
    },
  };
}

function addStep({ pool, changes }: PoolTools): PoolStep {
  return {
    name: "add",
    title: "adding devices",
    weight: 5,
    isAbortable: false,
    async forward(run) {
      const { input, operationId, progress } = run;
      const devices = devicesOf(run);
      progress({ message: `adding ${devices.join(", ")}` });
      const bytes = await changes.during({ operationId, effect: "grows" }, () =>
        pool.add(input.identity, devices, run.attempt > 1),
      );
      progress({ message: `${pool.name} has grown by ${describeSize(bytes)} on ${devices.join(", ")}` });
      return { bytes: String(bytes) };
    },
    undo: (run) =>
      changes.during({ operationId: run.operationId, effect: "shrinks" }, () =>
        pool.takeBack(run.input.identity, devicesOf(run)),
      ),
    attention: (run) => ({
      left: [`${devicesOf(run).join(", ")} may be in ${pool.name}, in part or all.`],
      advice: ["Run `hostplane pool show`, fix the cause of the error, then retry the operation."],
    }),
  };
}

function devicesOf({ output }: Pick<PoolRun, "output">): readonly string[] {
  return (output("choose") as { readonly devices: readonly string[] }).devices;
}
