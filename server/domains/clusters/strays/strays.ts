import { runChange } from "../../../../adapters/host/effect.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { MaasAdapter } from "../../../../adapters/maas/adapter.ts";
import { maasReasons } from "../../../../adapters/maas/reasons.ts";
import type { Store } from "../../../store/store.ts";
import { clusterReasons } from "../reasons.ts";
import { type Clocks, processClocks } from "../reconcile/clocks.ts";
import { marksOf } from "../reconcile/machines/machine-marks.ts";
import type { ClusterSettings } from "../specs/cluster-settings.ts";
import type { AdoptedSlot } from "../store/strays.ts";
import { adoptionOf } from "./adoption.ts";
import { beginRead } from "./begin-read.ts";
import { judgeMachine } from "./judge-machine.ts";
import { createMachineReader, resourceOf } from "./read-machines.ts";
import { repeatSweep } from "./repeat-sweep.ts";
import type { StrayCalls, StrayFacts } from "./stray-calls.ts";
import { planOfAdoption, planOfRelease } from "./stray-plans.ts";
import { strayFactsOf, surveyMachines } from "./survey.ts";
import { createSweep, type StrayLog, type Sweep } from "./sweep.ts";

/** Machines allocated to the gateway's MAAS account that no cluster knows. */
export interface Strays extends StrayCalls {
  /** Searches for strays once, logs them, and releases those that can be released without loss. */
  readonly sweep: Sweep;
  /** Sweeps after `firstSweepMs` and every `sweepMs`, until it is closed. */
  begin(): { close(): Promise<void> };
}

export interface StraysOptions {
  readonly store: Pick<Store, "run">;
  readonly maas: MaasAdapter;
  readonly settings: Pick<ClusterSettings, "firstSweepMs" | "sweepMs">;
  readonly log: StrayLog;
  readonly clocks?: Clocks;
}

/** @param options `clocks`: those of this process by default */
export function createStrays(options: StraysOptions): Strays {
  const { store, maas, settings, log, clocks = processClocks } = options;
  const reader = createMachineReader({ store, maas });
  const survey = (signal?: AbortSignal) => surveyMachines({ maas, reader }, signal);
  const sweep = createSweep({ maas, reader, survey, log, clocks });

  /** @throws InfraError STRAY_NOT_FOUND, MACHINE_IN_USE */
  async function readStray(systemId: string) {
    const { seen, known } = await reader.one(systemId);
    const verdict = judgeMachine(seen, known, true);
    if (verdict.is === "inUse") {
      throw inUse(systemId, verdict.slot.cluster);
    }
    const clusters = await reader.clustersOf([seen]);
    return { seen, known, clusters, facts: strayFactsOf(seen, verdict, known, clusters) };
  }

  /** @throws InfraError STRAY_NOT_FOUND, STRAY_NOT_ADOPTABLE, MACHINE_IN_USE */
  async function readAdoption(systemId: string): Promise<Adoptable> {
    const { seen, known, clusters } = await readStray(systemId);
    const adoption = adoptionOf(seen, known, clusters);
    if ("refusal" in adoption) {
      throw notAdoptable(systemId, adoption.refusal);
    }
    return { ...adoption, installationId: known.installationId };
  }

  /** @throws InfraError STRAY_NOT_FOUND, MACHINE_IN_USE, MACHINE_LOCKED */
  async function readRelease(systemId: string): Promise<StrayFacts> {
    const { seen, facts } = await readStray(systemId);
    if (seen.machine.isLocked) {
      throw new InfraError(
        maasReasons.MACHINE_LOCKED,
        `machine ${systemId} is locked; unlock it in MAAS first`,
        {
          resource: resourceOf(systemId),
        },
      );
    }
    return facts;
  }

  return {
    async list() {
      const { strays, reportOnlyBecause } = await survey();
      return { strays, reportOnlyBecause };
    },

    async adopt(systemId) {
      const read = beginRead(clocks, systemId);
      const { slot, isRenamed, installationId } = await readAdoption(systemId);
      read.assertFresh();
      if (isRenamed) {
        // Marked before it is stored: until then it is a stray that can be adopted by its new marks.
        await runChange(() => maas.annotate(systemId, marksOf(installationId, slot)));
      }
      const adopted = await store.run("clusters.adopt", { slot, message: "adopted by an operator" });
      if (adopted.ok) {
        return adopted.slot;
      }
      if (adopted.why === "taken") {
        throw inUse(systemId, slot.cluster);
      }
      const isFull = adopted.why === "full";
      const what = `${slot.pool === undefined ? "" : `node pool ${slot.pool} of `}cluster ${slot.cluster}`;
      throw notAdoptable(
        systemId,
        isFull ? `${what} got its machines in the meantime` : `${what} was deleted in the meantime`,
      );
    },

    async release(systemId) {
      const read = beginRead(clocks, systemId);
      await readRelease(systemId);
      read.assertFresh();
      const comment = "released by an operator of hostplane: no cluster uses it";
      await runChange(() => maas.release(systemId, { comment }));
    },

    plan: {
      async adopt(systemId) {
        const { slot, isRenamed } = await readAdoption(systemId);
        return planOfAdoption(maas.url, slot, isRenamed);
      },
      release: async (systemId) => planOfRelease(maas.url, await readRelease(systemId)),
    },

    sweep,
    begin: () => repeatSweep(sweep, settings, log),
  };
}

interface Adoptable {
  readonly slot: AdoptedSlot;
  readonly isRenamed: boolean;
  readonly installationId: string;
}

function inUse(systemId: string, cluster: string): InfraError {
  return new InfraError(clusterReasons.MACHINE_IN_USE, `machine ${systemId} is used by cluster ${cluster}`, {
    resource: resourceOf(systemId),
  });
}

function notAdoptable(systemId: string, why: string): InfraError {
  return new InfraError(clusterReasons.STRAY_NOT_ADOPTABLE, `machine ${systemId} cannot be adopted: ${why}`, {
    resource: resourceOf(systemId),
  });
}
