import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { OperationKind, OperationStep, StepRun } from "../../../operations/operation-kind.ts";
import type { Store } from "../../../store/store.ts";
import { clusterReasons } from "../reasons.ts";
import { clusterResource } from "../specs/cluster-resource.ts";
import type { ClusterSpecs } from "../specs/cluster-specs.ts";
import type { ClusterWithSlots } from "../store/rows.ts";
import { assertStays, describeProgress, followCluster, isJoined, isSettled } from "./follow-cluster.ts";

/** A change that is already stored. The operation only follows how the reconciler carries it out. */
export type ClusterChangeInput = {
  readonly name: string;
  readonly uid: string;
  /** The cluster's generation with this change. */
  readonly generation: number;
};

export type AddPoolsInput = ClusterChangeInput & { readonly pools: readonly string[] };

export type ScalePoolsInput = ClusterChangeInput & {
  /** The sizes before the change. */
  readonly sizes: readonly { readonly name: string; readonly count: number }[];
};

export interface ClusterKindTools {
  readonly store: Pick<Store, "run" | "subscribe">;
  readonly specs: Pick<ClusterSpecs, "remove" | "removePools" | "scalePools">;
}

type Input = ClusterChangeInput;
type Step<I extends Input> = OperationStep<I, null>;
type Run<I extends Input = Input> = StepRun<I, null>;

const kindParts = { system: "maas", runsOn: "anywhere", followsChange: true } satisfies Partial<
  OperationKind<Input>
>;

/** clusters.create. Cancelling it deletes the cluster. */
export function createCreateKind(tools: ClusterKindTools): OperationKind<Input> {
  const joinedControlPlane = ({ slots }: ClusterWithSlots) =>
    slots.filter((slot) => slot.pool === undefined && isJoined(slot)).length;
  return {
    ...kindParts,
    kind: "clusters.create",
    steps: [
      {
        ...awaitStep(
          tools,
          "firstMachine",
          "installing the first machine",
          (found) => joinedControlPlane(found) > 0,
        ),
        undo: (run) => takeDown(tools, run),
      },
      awaitStep(
        tools,
        "controlPlane",
        "joining the control plane",
        (found) => joinedControlPlane(found) >= found.cluster.controlPlane.count,
      ),
      settleStep(tools, "joining the workers"),
    ],
    result: resultOf,
  };
}

/** clusters.addPools. Cancelling it removes the pools. */
export function createAddPoolsKind(tools: ClusterKindTools): OperationKind<AddPoolsInput> {
  return {
    ...kindParts,
    kind: "clusters.addPools",
    steps: [
      {
        ...settleStep<AddPoolsInput>(tools, "joining the machines of the new pools"),
        undo: (run) => {
          const leftOf = ({ cluster }: ClusterWithSlots) =>
            run.input.pools.filter((name) => cluster.pools.some((pool) => pool.name === name));
          return changeBack(tools, run, {
            isBack: (found) => leftOf(found).length === 0,
            change: (found) => tools.specs.removePools(run.input.name, leftOf(found)),
          });
        },
      },
    ],
    result: resultOf,
  };
}

/** clusters.scalePools. Cancelling it restores the previous sizes. */
export function createScalePoolsKind(tools: ClusterKindTools): OperationKind<ScalePoolsInput> {
  return {
    ...kindParts,
    kind: "clusters.scalePools",
    steps: [
      {
        ...settleStep<ScalePoolsInput>(tools, "joining and removing machines"),
        undo: (run) =>
          changeBack(tools, run, {
            isBack: ({ cluster }) =>
              run.input.sizes.every(({ name, count }) =>
                cluster.pools.some((pool) => pool.name === name && pool.count === count),
              ),
            change: () => tools.specs.scalePools(run.input.name, run.input.sizes),
          }),
      },
    ],
    result: resultOf,
  };
}

/** clusters.removePools and clusters.upgrade, which cannot be undone. They also end when the cluster is being deleted. */
export function createFinalKind(
  { store }: ClusterKindTools,
  kind: "clusters.removePools" | "clusters.upgrade",
): OperationKind<Input> {
  const title =
    kind === "clusters.upgrade" ? "replacing the machines" : "draining and releasing the machines";
  return {
    ...kindParts,
    kind,
    steps: [
      followStep(store, "settle", title, (found, { generation }, report) => {
        report(found && describeProgress(found));
        return found === undefined || found.cluster.isDeleting || isSettled(found, generation);
      }),
    ],
    result: resultOf,
  };
}

/** clusters.delete */
export function createDeleteKind({ store }: ClusterKindTools): OperationKind<Input> {
  return {
    ...kindParts,
    kind: "clusters.delete",
    steps: [
      followStep(store, "takeDown", "releasing the machines", (found, _input, report) => {
        report(found && describeLeft(found));
        return found === undefined;
      }),
    ],
    result: resultOf,
  };
}

function settleStep<I extends Input>(tools: ClusterKindTools, title: string): Step<I> {
  return awaitStep(tools, "settle", title, (found, { generation }) => isSettled(found, generation));
}

function awaitStep<I extends Input>(
  { store }: ClusterKindTools,
  name: string,
  title: string,
  isThere: (found: ClusterWithSlots, input: I) => boolean,
): Step<I> {
  return followStep(store, name, title, (found, input, report) => {
    const followed = assertStays(found, input.name);
    report(describeProgress(followed));
    return isThere(followed, input);
  });
}

type Report = (message: string | undefined) => void;

function followStep<I extends Input>(
  store: ClusterKindTools["store"],
  name: string,
  title: string,
  isThere: (found: ClusterWithSlots | undefined, input: I, report: Report) => boolean,
): Step<I> {
  return {
    name,
    title,
    isAbortable: true,
    async forward(run) {
      const { input, signal } = run;
      await followCluster(store, input, signal, (found) => isThere(found, input, reporterFor(run)));
      return null;
    },
  };
}

function reporterFor({ progress }: Pick<Run, "progress">): Report {
  return (message) => message !== undefined && progress({ message });
}

async function takeDown({ store, specs }: ClusterKindTools, run: Run): Promise<void> {
  const { input, signal } = run;
  const found = await store.run("clusters.get", { name: input.name });
  if (found?.cluster.uid !== input.uid) {
    return;
  }
  await specs.remove(input.name);
  const report = reporterFor(run);
  await followCluster(store, input, signal, (left) => {
    report(left && describeLeft(left));
    return left === undefined;
  });
}

function describeLeft({ slots }: ClusterWithSlots): string {
  return `${slots.length} machines remaining`;
}

/**
 * Reverts a change, unless the cluster was changed again since then.
 * @throws InfraError CLUSTER_CHANGED when it was
 */
async function changeBack<I extends Input>(
  { store }: ClusterKindTools,
  run: Run<I>,
  back: {
    readonly isBack: (found: ClusterWithSlots) => boolean;
    readonly change: (found: ClusterWithSlots) => Promise<{ readonly changedTo: number | undefined }>;
  },
): Promise<void> {
  const { input, signal } = run;
  const { name, uid, generation } = input;
  const found = await store.run("clusters.get", { name });
  if (found?.cluster.uid !== uid || found.cluster.isDeleting) {
    return;
  }
  const isBack = back.isBack(found);
  if (!isBack && found.cluster.generation !== generation) {
    throw new InfraError(clusterReasons.CLUSTER_CHANGED, `${name} was changed again in the meantime`, {
      resource: clusterResource(name),
    });
  }
  const changedTo = isBack ? found.cluster.generation : (await back.change(found)).changedTo;
  const report = reporterFor(run);
  await followCluster(store, input, signal, (now) => {
    report(now && describeProgress(now));
    return now === undefined || now.cluster.isDeleting || isSettled(now, changedTo ?? 0);
  });
}

function resultOf({ input }: Pick<Run, "input">) {
  return { cluster: input.name };
}
