import type { MaasAdapter } from "../../../../adapters/maas/adapter.ts";
import { adoptionOf } from "./adoption.ts";
import {
  judgeMachine,
  type KnownSlots,
  type MachineVerdict,
  type SeenMachine,
  type StrayVerdict,
} from "./judge-machine.ts";
import type { KnownClusters, MachineReader } from "./read-machines.ts";
import { reportOnlyReason } from "./report-only.ts";
import type { StrayFacts } from "./stray-calls.ts";

/** Result of a survey of all machines of the account. */
export interface Survey {
  /** By system id. */
  readonly strays: readonly StrayFacts[];
  /** The strays that may be released automatically. */
  readonly releasable: readonly SeenMachine[];
  /** Why none may be released; for people. */
  readonly reportOnlyBecause: string | undefined;
}

/**
 * Surveys all machines of the account, without changing anything.
 * @throws InfraError as MAAS and the store do
 */
export async function surveyMachines(
  { maas, reader }: { readonly maas: Pick<MaasAdapter, "machines">; readonly reader: MachineReader },
  signal: AbortSignal | undefined,
): Promise<Survey> {
  const { seen, known } = await reader.all(signal);
  const reportOnlyBecause = reportOnlyReason(seen, known);
  const judged = seen
    .map((each) => ({ seen: each, verdict: judgeMachine(each, known, reportOnlyBecause !== undefined) }))
    .filter(isJudgedStray);
  const found = await stillOwned(maas, judged, signal);
  const clusters = await reader.clustersOf(found.map((each) => each.seen));
  return {
    strays: found
      .map((each) => strayFactsOf(each.seen, each.verdict, known, clusters))
      .toSorted((a, b) => (a.systemId < b.systemId ? -1 : 1)),
    releasable: found.filter(({ verdict }) => verdict.isReleasable).map((each) => each.seen),
    reportOnlyBecause,
  };
}

/** Returns the facts about a stray. */
export function strayFactsOf(
  seen: SeenMachine,
  verdict: StrayVerdict,
  known: KnownSlots,
  clusters: KnownClusters,
): StrayFacts {
  const { machine, marks } = seen;
  const adoption = adoptionOf(seen, known, clusters);
  const isRefused = "refusal" in adoption;
  const isLeft = verdict.isOurs && !verdict.isReleasable;
  return {
    systemId: machine.systemId,
    hostname: machine.hostname,
    maasStatus: machine.status,
    cluster: marks?.cluster,
    pool: marks?.pool,
    isOurs: verdict.isOurs,
    isAdoptable: !isRefused,
    message: `${verdict.message}${isRefused && isLeft ? `; it cannot be adopted: ${adoption.refusal}` : ""}`,
  };
}

interface JudgedStray {
  readonly seen: SeenMachine;
  readonly verdict: StrayVerdict;
}

function isJudgedStray(judged: {
  readonly seen: SeenMachine;
  readonly verdict: MachineVerdict;
}): judged is JudgedStray {
  return judged.verdict.is === "stray";
}

/** Filters out machines released between the reads of MAAS and the store; they are not strays. */
async function stillOwned(
  maas: Pick<MaasAdapter, "machines">,
  judged: readonly JudgedStray[],
  signal: AbortSignal | undefined,
): Promise<readonly JudgedStray[]> {
  const systemIds = judged.map(({ seen }) => seen.machine.systemId);
  const now = await maas.machines({ systemIds }, signal);
  const owners = new Map(now.map(({ systemId, owner }) => [systemId, owner]));
  return judged.filter(({ seen: { machine } }) => owners.get(machine.systemId) === machine.owner);
}
