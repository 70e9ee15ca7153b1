import { z } from "zod";
import { podPhaseFrom } from "../pod-phase.ts";
import type { PodContainer, PodPhase, RuntimePod } from "../runtime-state.ts";
import type { InspectedContainer } from "./parse-container.ts";
import { idOf, listOf, parseReply, someTimeOf, wordsOf } from "./parse-reply.ts";

const member = z.object({ Id: idOf });

const pod = z.object({
  Id: idOf,
  Name: z.string(),
  Created: someTimeOf,
  State: z.string(),
  Labels: wordsOf,
  CgroupPath: z.string().default(""),
  Containers: listOf(member),
});

/** A pod from `pods/ID/json`, which has only the ids of its containers and no details. */
export interface InspectedPod {
  readonly facts: z.infer<typeof pod>;
  readonly document: string;
}

/** Parses the reply to `pods/ID/json`. @throws InfraError PODMAN_FAILED */
export function parsePod(text: string): InspectedPod {
  const facts = parseReply("pods/ID/json", pod, text);
  // `"SharedNamespaces":["uts","ipc","net"]` comes in a random order, which is not a change of the pod.
  const document = text.trim().replace(/"SharedNamespaces":(\["[a-z",]*"\])/, (_, list: string) => {
    return `"SharedNamespaces":${JSON.stringify(JSON.parse(list).toSorted())}`;
  });
  return { facts, document };
}

const row = z.object({
  Id: idOf,
  Name: z.string(),
  Status: z.string(),
  Labels: wordsOf,
  Networks: listOf(z.string()),
});

/** A pod as it appears in lists: enough to detect whether it has changed since it was inspected. */
export type PodRow = z.infer<typeof row>;

/** Parses the reply to `pods/json`. @throws InfraError PODMAN_FAILED */
export function parsePodRows(text: string): readonly PodRow[] {
  return parseReply("pods/json", listOf(row), text);
}

/** Combines the details of a pod and of each of its containers. */
export function podFrom(
  { facts, document }: InspectedPod,
  members: readonly InspectedContainer[],
): RuntimePod {
  const inspected = members.toSorted((a, b) => compareAges(a.container, b.container));
  const containers = inspected.map(({ container }) => container);
  const infra = inspected.find(({ container }) => container.isInfra);
  const starts = containers.flatMap(({ startedAtNs }) => startedAtNs ?? []);
  return {
    id: facts.Id,
    uuid: uuidFromPodId(facts.Id),
    name: facts.Name,
    phase: phaseOf(facts.State, containers),
    createdAtNs: facts.Created,
    startedAtNs: starts.length === 0 ? undefined : starts.reduce((a, b) => (b < a ? b : a)),
    labels: facts.Labels,
    cgroup: facts.CgroupPath === "" ? undefined : facts.CgroupPath,
    // An infra container, if there is one, has the addresses of the whole pod.
    networks: infra?.networks ?? inspected.flatMap(({ networks }) => networks),
    containers,
    document,
  };
}

function compareAges(a: PodContainer, b: PodContainer): number {
  return a.createdAtNs === b.createdAtNs ? (a.id < b.id ? -1 : 1) : a.createdAtNs < b.createdAtNs ? -1 : 1;
}

/** Formats the first 32 digits of the id as a UUID. */
export function uuidFromPodId(id: string): string {
  return id.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/**
 * Derives the phase. Podman's own status is ambiguous: it reports `Degraded` for a pod that is starting, for one in
 * which only the infra container runs, and for one that really has lost a container.
 */
function phaseOf(status: string, containers: readonly PodContainer[]): PodPhase {
  const phase = podPhaseFrom(containers);
  return status === "Error" && phase !== "running" ? "unknown" : phase;
}
