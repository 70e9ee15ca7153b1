import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import { hypervisorResource } from "../../../../adapters/libvirt/names.ts";
import { libvirtReasons } from "../../../../adapters/libvirt/reasons.ts";
import { type Inventory, isOn } from "../inventory.ts";
import { hypervisorReasons } from "../reasons.ts";
import {
  type CheckOutput,
  type CreateRun,
  type CreateStep,
  type CreateTemplate,
  checkedBy,
  definitionOf,
  diskName,
  domainUuid,
  formatIn,
  seedName,
} from "./create-input.ts";
import { domainGone, type HypervisorTools } from "./hypervisor-tools.ts";

/** Attempts per step, which cover a restart of libvirt. */
const maxAttempts = 6;

/** Finds out what exists already: the operation creates only what is missing, and undoes only what it created. */
export function checkStep(tools: HypervisorTools, inventory: Inventory): CreateStep {
  return {
    name: "check",
    title: "inspecting",
    isAbortable: true,
    maxAttempts,
    async forward(run): Promise<CheckOutput> {
      const { input, operationId, signal, progress } = run;
      const { id, template } = input;
      const resource = hypervisorResource(id);
      const state = await tools.state(signal);
      const domain = state.domains.find(({ name }) => name === id);
      if (domain !== undefined) {
        if (!inventory.isHypervisor(domain)) {
          throw new InfraError(
            libvirtReasons.DOMAIN_EXISTS,
            `a VM ${id} exists that hostplane did not create`,
            {
              resource,
            },
          );
        }
        if (isOn(domain.state) === true) {
          throw new InfraError(hypervisorReasons.HYPERVISOR_RUNNING, `${id} is already running`, {
            resource,
          });
        }
        return { mode: "start", uuid: domain.uuid, format: "raw", hasDisk: true, hasSeed: true };
      }
      if (template === null) {
        throw domainGone(id);
      }
      const pool = state.pools.find(({ name }) => name === template.pool);
      if (pool === undefined || !pool.isActive) {
        const what = pool === undefined ? "not found" : "is not active";
        throw new InfraError(libvirtReasons.STORAGE_POOL_NOT_FOUND, `storage pool ${template.pool} ${what}`, {
          resource,
        });
      }
      const format = formatIn(pool);
      const hasDisk = await tools.hasVolume(pool.name, diskName(id, format), signal);
      const hasSeed = template.seed && (await tools.hasVolume(pool.name, seedName(id), signal));
      if (hasDisk) {
        progress({ message: "reusing the disk that was kept from an earlier VM with this ID" });
      }
      return { mode: "make", uuid: domainUuid(operationId), format, hasDisk, hasSeed };
    },
  };
}

/** Returns what has to be created; undefined if the VM only has to be started. */
function creationOf(
  run: CreateRun,
): { readonly template: CreateTemplate; readonly checked: CheckOutput } | undefined {
  const { template } = run.input;
  const checked = checkedBy(run);
  return template === null || checked.mode === "start" ? undefined : { template, checked };
}

/** Output of the step `volume`. A type alias, since an interface is not assignable to Json. */
type VolumeOutput = { readonly isMade: boolean };

/** Creates the disk. */
export function volumeStep(tools: HypervisorTools): CreateStep {
  return {
    name: "volume",
    title: "creating the disk",
    isAbortable: false,
    maxAttempts,
    async happened(run) {
      const creation = creationOf(run);
      if (creation === undefined || creation.checked.hasDisk) {
        return { output: { isMade: false } };
      }
      const name = diskName(run.input.id, creation.checked.format);
      const isThere = await tools.hasVolume(creation.template.pool, name, run.signal);
      return isThere ? { output: { isMade: true } } : undefined;
    },
    async forward(run) {
      const creation = creationOf(run);
      if (creation === undefined || creation.checked.hasDisk) {
        return { isMade: false };
      }
      const { pool, sizeGib, backing } = creation.template;
      const { format } = creation.checked;
      run.progress({ message: `creating the disk (${sizeGib} GiB)` });
      const name = diskName(run.input.id, format);
      const origin = backing === null ? {} : { backingVolume: backing };
      const sizeBytes = BigInt(sizeGib) << 30n;
      try {
        await tools.run({ kind: "createVolume", pool, name, format, sizeBytes, ...origin }, run);
      } catch (error) {
        if (hasReason(error, libvirtReasons.STORAGE_VOLUME_EXISTS)) {
          // Created by another process since the check, so undo must not delete it. On a retry it may also come from the
          // previous attempt, if libvirt completed that after it had stopped responding.
          return { isMade: run.attempt > 1 };
        }
        throw error;
      }
      return { isMade: true };
    },
    async undo(run) {
      const creation = creationOf(run);
      const { isMade } = (run.output("volume") ?? { isMade: true }) as VolumeOutput;
      if (creation !== undefined && !creation.checked.hasDisk && isMade) {
        await removeVolume(
          tools,
          creation.template.pool,
          diskName(run.input.id, creation.checked.format),
          run,
        );
      }
    },
    attention: (run) => volumeAttention(run, diskName(run.input.id, checkedBy(run).format)),
  };
}

/** Writes the seed. An existing one is replaced, since this is a new instance. */
export function seedStep(tools: HypervisorTools): CreateStep {
  return {
    name: "seed",
    title: "creating the cloud-init seed",
    isAbortable: true,
    maxAttempts,
    async forward(run) {
      const creation = creationOf(run);
      if (creation?.template.seed === true) {
        const { id } = run.input;
        const { pool } = creation.template;
        const step = { kind: "writeSeed", pool, name: seedName(id), hostname: id } as const;
        await tools.run({ ...step, instanceId: run.operationId }, run);
      }
      return null;
    },
    async undo(run) {
      const creation = creationOf(run);
      if (creation?.template.seed === true && !creation.checked.hasSeed) {
        await removeVolume(tools, creation.template.pool, seedName(run.input.id), run);
      }
    },
    attention: (run) => volumeAttention(run, seedName(run.input.id)),
  };
}

/** Defines the VM, marked with the operation's id. */
export function defineStep(tools: HypervisorTools): CreateStep {
  const createdDomain = async (run: CreateRun) => {
    const domain = await tools.domain(run);
    return domain?.mark?.operationId === run.operationId ? domain : undefined;
  };
  return {
    name: "define",
    title: "defining the VM",
    isAbortable: false,
    maxAttempts,
    happened: async (run) =>
      creationOf(run) === undefined || (await createdDomain(run)) !== undefined
        ? { output: null }
        : undefined,
    async forward(run) {
      const creation = creationOf(run);
      if (creation !== undefined) {
        const { isMade } = run.output("volume") as VolumeOutput;
        const facts = { ...creation.checked, isDiskCreated: isMade };
        const domain = definitionOf(run.input.id, creation.template, run.operationId, facts);
        await tools.run({ kind: "define", domain }, run);
      }
      return null;
    },
    async undo(run) {
      const domain = creationOf(run) === undefined ? undefined : await createdDomain(run);
      if (domain === undefined) {
        return;
      }
      const { name, uuid } = domain;
      if (isOn(domain.state) === true) {
        await tools.run({ kind: "powerOff", name, uuid }, run);
      }
      await tools.run({ kind: "undefine", name, uuid }, run);
    },
    attention: ({ input }) => ({
      left: [`The VM ${input.id} is still defined.`],
      advice: [`Retry the operation; or remove it with \`virsh undefine ${input.id} --nvram\`.`],
    }),
  };
}

async function removeVolume(
  tools: HypervisorTools,
  pool: string,
  name: string,
  run: CreateRun,
): Promise<void> {
  if (await tools.hasVolume(pool, name, run.signal)) {
    await tools.run({ kind: "deleteVolume", pool, name }, run);
  }
}

function volumeAttention({ input }: CreateRun, name: string) {
  const pool = input.template?.pool ?? "";
  return {
    left: [`The volume ${name} may still be in the storage pool ${pool}.`],
    advice: [`Retry the operation; or remove it with \`virsh vol-delete ${name} --pool ${pool}\`.`],
  };
}
