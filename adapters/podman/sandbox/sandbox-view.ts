import { uuidFromPodId } from "../parse/parse-pod.ts";
import { podPhaseFrom } from "../pod-phase.ts";
import type {
  ContainerState,
  PodContainer,
  RuntimeImage,
  RuntimePod,
  UnreadablePod,
} from "../runtime-state.ts";
import type { SandboxProgram, SandboxRun } from "./sandbox-program.ts";

export interface SandboxContainer {
  readonly id: string;
  readonly podId: string;
  readonly name: string;
  readonly isInfra: boolean;
  readonly program: SandboxProgram;
  readonly image: { readonly id: string; readonly name: string };
  readonly createdAtNs: bigint;
  state: ContainerState;
  exitCode: number | undefined;
  runs: SandboxRun[];
  /** Cancels the end of its program. */
  cancelExit: (() => void) | undefined;
}

export interface SandboxPod {
  readonly id: string;
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly createdAtNs: bigint;
  readonly address: string;
  readonly containers: SandboxContainer[];
  /** Why it cannot be read; undefined if it can. */
  brokenWhy: string | undefined;
}

/** Reports whether it is running or paused. */
export function isUp({ state }: Pick<SandboxContainer, "state">): boolean {
  return state === "running" || state === "paused";
}

/** Returns the port's view of a pod that cannot be read; empty for a readable one. */
export function unreadableFrom({ id, brokenWhy }: SandboxPod): readonly UnreadablePod[] {
  return brokenWhy === undefined ? [] : [{ podId: id, podUuid: uuidFromPodId(id), why: brokenWhy }];
}

/** Returns the port's view of a sandbox pod. */
export function podFrom(pod: SandboxPod): RuntimePod {
  const { id, name, labels, createdAtNs, address } = pod;
  const containers = pod.containers.map(containerFrom);
  const starts = containers.flatMap(({ startedAtNs }) => startedAtNs ?? []);
  const phase = podPhaseFrom(containers);
  const hasAddress = containers.some(isUp);
  return {
    id,
    uuid: uuidFromPodId(id),
    name,
    phase,
    createdAtNs,
    startedAtNs: starts.length === 0 ? undefined : starts.reduce((a, b) => (b < a ? b : a)),
    labels,
    cgroup: `/sandbox/${id}`,
    networks: hasAddress ? [{ name: "sandbox-net", ipv4: address, ipv6: "" }] : [],
    containers,
    document: documentOf(id, name, phase, containers),
  };
}

function containerFrom(each: SandboxContainer): PodContainer {
  const { id, name, isInfra, state, image, exitCode, createdAtNs } = each;
  const run = each.runs.at(-1);
  return {
    id,
    name,
    isInfra,
    state,
    image,
    exitCode: state === "exited" ? exitCode : undefined,
    pid: isUp(each) ? 1_000 + (Number.parseInt(id.slice(0, 6), 16) % 30_000) : undefined,
    createdAtNs,
    startedAtNs: run?.startedAtNs,
    exitedAtNs: run?.endedAtNs,
    annotations: new Map(),
  };
}

function documentOf(id: string, name: string, phase: string, containers: readonly PodContainer[]): string {
  const members = containers.map(({ id: Id, name: Name, state: State }) => ({ Id, Name, State }));
  return JSON.stringify({ Id: id, Name: name, State: phase, Containers: members });
}

/** Returns the port's view of a sandbox image. */
export function imageOf(id: string, name: string, createdAtNs: bigint): RuntimeImage {
  return {
    id,
    names: [name],
    sizeBytes: 2_000_000n,
    createdAtNs,
    format: "oci",
    formatVersion: "v1",
    labels: new Map([["sandbox", "true"]]),
    annotations: new Map(),
    document: JSON.stringify({ Id: id, RepoTags: [name] }),
  };
}

/** Sorts by ID, so that states with the same content are equal. */
export function inOrder<T extends { readonly id: string }>(values: readonly T[]): readonly T[] {
  return values.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
