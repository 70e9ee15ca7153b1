import { z } from "zod";
import type { InspectedContainer } from "./parse-container.ts";
import { idOf, listOf, parseReply, someTimeOf, wordsOf } from "./parse-reply.ts";
import { podPhaseFrom } from "./pod-phase.ts";
import type { PodContainer, PodPhase, RuntimePod } from "./runtime-state.ts";

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

/** A pod as `pods/ID/json` tells of it, which says of its containers only which they are. */
export interface InspectedPod {
  readonly facts: z.infer<typeof pod>;
  readonly document: string;
}

/** Reads the reply to `pods/ID/json`. @throws InfraError PODMAN_FAILED */
export function parsePod(text: string): InspectedPod {
  const facts = parseReply("pods/ID/json", pod, text);
  // `"SharedNamespaces":["uts","ipc","net"]` came in another order each time, which is no change of the pod.
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

/** What a list tells of a pod: enough to know whether it has changed since it was inspected. */
export type PodRow = z.infer<typeof row>;

/** Reads the reply to `pods/json`. @throws InfraError PODMAN_FAILED */
export function parsePodRows(text: string): readonly PodRow[] {
  return parseReply("pods/json", listOf(row), text);
}

/** Puts together what is told of a pod and of each of its containers. */
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
    // The infra container has the addresses of all, if there is one.
    networks: infra?.networks ?? inspected.flatMap(({ networks }) => networks),
    containers,
    document,
  };
}

function compareAges(a: PodContainer, b: PodContainer): number {
  return a.createdAtNs === b.createdAtNs ? (a.id < b.id ? -1 : 1) : a.createdAtNs < b.createdAtNs ? -1 : 1;
}

/** The id's first 32 digits, in a UUID's form. */
export function uuidFromPodId(id: string): string {
  return id.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/**
 * Podman's own word is not enough: it says `Degraded` of a pod that starts, of one whose only running container is the infra one, and of
 * one that really has lost a container.
 */
function phaseOf(status: string, containers: readonly PodContainer[]): PodPhase {
  const phase = podPhaseFrom(containers);
  return status === "Error" && phase !== "running" ? "unknown" : phase;
}
