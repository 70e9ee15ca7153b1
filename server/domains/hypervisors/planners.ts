import type { InfraError } from "../../../adapters/host/infra-error.ts";
import type { LibvirtAdapter, LibvirtState, LibvirtStep } from "../../../adapters/libvirt/adapter.ts";
import { assertHypervisorId, hypervisorResource } from "../../../adapters/libvirt/names.ts";
import { OperationsService } from "../../../gen/operations/v1/operations_pb.ts";
import type { PlannedMutation, PlannedStep } from "../../operations/mutation.ts";
import { type PlannerRegistration, registerPlanners } from "../../operations/planner.ts";
import { createKindName } from "./create-kind.ts";
import { type CreateInput, definitionOf, diskName, formatIn, seedName } from "./create-run.ts";
import { type DestroyInput, destroyKindName } from "./destroy-kind.ts";
import { libvirtSource } from "./events/hypervisor-observer.ts";
import type { Foreseen, Hypervisors } from "./hypervisors.ts";
import type { SharedPool } from "./pool/shared-pool.ts";

/** Placeholders in commands for the operation's id, assigned only when it begins, and for the UUID derived from it. */
const operationId = "OPERATION";
const uuid = "UUID";

/** The part of a plan that concerns one hypervisor. */
interface PlannedPart {
  readonly changes: readonly string[];
  readonly losses: readonly string[];
  readonly steps: readonly PlannedStep[];
}

export interface HypervisorPlannersOptions {
  readonly hypervisors: Hypervisors;
  /** Undefined if there is none; calls that need it then fail with `poolRefusal`. */
  readonly shared: SharedPool | undefined;
  readonly poolRefusal: () => InfraError;
  readonly libvirt: LibvirtAdapter;
  readonly host: string;
}

/** Creates the planners of operations.v1.OperationsService. */
export function createHypervisorPlanners(options: HypervisorPlannersOptions): PlannerRegistration {
  const { hypervisors, shared, poolRefusal, libvirt, host } = options;
  const assertPool = () => {
    if (shared === undefined) {
      throw poolRefusal();
    }
    return shared;
  };
  const step = (name: string, libvirtStep?: LibvirtStep): PlannedStep => ({
    name,
    command: libvirtStep === undefined ? [] : libvirt.commandOf(libvirtStep),
  });

  function creation(
    { id, template }: CreateInput,
    state: Pick<LibvirtState, "domains" | "pools">,
  ): PlannedPart {
    const domain = state.domains.find(({ name }) => name === id);
    const start = { kind: "start", name: id, uuid: domain?.uuid ?? uuid } as const;
    const ready = [step("start", start), step("ready")];
    if (template === null || domain !== undefined) {
      return { changes: [`${id} is started`], losses: [], steps: [step("check"), ...ready] };
    }
    const { pool, sizeGib, backing, seed, vcpuCount, memoryMib } = template;
    const found = state.pools.find(({ name }) => name === pool);
    // Without its pool the operation fails, whatever the format.
    const format = found === undefined ? "qcow2" : formatIn(found);
    const origin = backing === null ? {} : { backingVolume: backing };
    const disk = { kind: "createVolume", pool, name: diskName(id, format), format } as const;
    const iso = {
      kind: "writeSeed",
      pool,
      name: seedName(id),
      hostname: id,
      instanceId: operationId,
    } as const;
    const definition = definitionOf(id, template, operationId, { uuid, format, isDiskMade: true });
    return {
      changes: [
        `${id} is created with ${vcpuCount} threads, ${memoryMib} MiB of RAM and a disk of ${sizeGib} GiB in ${pool} (an existing disk is reused), and started`,
      ],
      losses: [],
      steps: [
        step("check"),
        step("volume", { ...disk, sizeBytes: BigInt(sizeGib) << 30n, ...origin }),
        ...(seed ? [step("seed", iso)] : []),
        step("define", { kind: "define", domain: definition }),
        ...ready,
      ],
    };
  }

  function destruction(input: DestroyInput): PlannedPart {
    const { id: name, uuid: ownUuid, isOurs, wasOff = false, graceSeconds, volumes } = input;
    const domain = { name, uuid: ownUuid };
    return {
      changes: [
        wasOff
          ? `the VM ${name}, which is off, is removed`
          : `${name} is powered off${isOurs ? " and removed" : ""}`,
      ],
      losses: [
        ...(wasOff ? [] : [`the workloads on ${name}, which are neither stopped nor moved`]),
        ...volumes.map((volume) => `the volume ${volume.pool}/${volume.name}`),
      ],
      steps: [
        ...(graceSeconds > 0 && !wasOff ? [step("grace", { kind: "shutDown", ...domain })] : []),
        ...(wasOff ? [] : [step("powerOff", { kind: "powerOff", ...domain })]),
        ...(isOurs ? [step("undefine", { kind: "undefine", ...domain })] : []),
        ...volumes.map((volume) => step("deleteVolumes", { kind: "deleteVolume", ...volume })),
      ],
    };
  }

  function planOf<Input>(
    kind: string,
    ids: readonly string[],
    foreseen: readonly Foreseen<Input>[],
    describe: (input: Input) => PlannedPart,
  ): PlannedMutation {
    const parts = foreseen.flatMap(({ input }) => (input === undefined ? [] : [describe(input)]));
    const steps = parts.flatMap((part) => part.steps);
    const [only = ""] = ids;
    const noReturn = steps.findIndex(({ name }) => name === "powerOff" || name === "undefine");
    return {
      kind,
      resource: ids.length === 1 ? hypervisorResource(only) : "hypervisors",
      backend: libvirtSource(libvirt, host),
      plan: {
        changes: parts.flatMap(({ changes }) => changes),
        losses: parts.flatMap(({ losses }) => losses),
      },
      steps,
      pointOfNoReturn: noReturn === -1 ? steps.length : noReturn,
    };
  }

  const planCreate = async (ids: readonly string[], signal: AbortSignal) => {
    const foreseen = await hypervisors.foreseeCreate(ids, signal);
    // Operations in progress can be reported even while libvirt is unreachable.
    const isAnyNew = foreseen.some(({ input }) => input !== undefined);
    const state = isAnyNew ? (await libvirt.read(signal)).value : { domains: [], pools: [] };
    return planOf(createKindName, ids, foreseen, (input) => creation(input, state));
  };
  const planDestroy = async (ids: readonly string[], signal: AbortSignal) =>
    planOf(destroyKindName, ids, await hypervisors.foreseeDestroy(ids, signal), destruction);

  return registerPlanners(OperationsService, {
    async createHypervisor({ id }, { signal }) {
      assertHypervisorId(id, "id");
      return planCreate([id], signal);
    },
    createHypervisors: ({ ids }, { signal }) => planCreate(ids, signal),
    async destroyHypervisor({ id }, { signal }) {
      assertHypervisorId(id, "id");
      return planDestroy([id], signal);
    },
    destroyHypervisors: ({ ids }, { signal }) => planDestroy(ids, signal),
    async expandStorage(request, { signal }) {
      return assertPool().planExpandFromPublished(request, signal);
    },
    async shrinkStorage(request, { signal }) {
      return assertPool().planShrinkFromPublished(request, signal);
    },
    async createBackup(_request, { signal }) {
      return assertPool().planBackUp(signal);
    },
  });
}
