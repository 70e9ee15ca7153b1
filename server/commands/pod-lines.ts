import { isDeepStrictEqual } from "node:util";
import { toJson } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import {
  type ListPodsResponse,
  ListPodsResponseSchema,
  type Pod,
  type PodContainer,
  PodContainerState,
  PodSchema,
  PodState,
  type UnreadablePod,
} from "../../gen/hostplane/v1/pod_pb.ts";
import { printableLine } from "../cli/table/printable-line.ts";
import { textTable } from "../cli/table/text-table.ts";

const podHead = ["ID", "NAME", "STATE", "CONTAINERS", "STARTED"];

const states: Readonly<Record<PodState, string>> = {
  [PodState.UNSPECIFIED]: "unknown",
  [PodState.CREATED]: "created",
  [PodState.RUNNING]: "running",
  [PodState.EXITED]: "exited",
};

const containerStates: Readonly<Record<PodContainerState, string>> = {
  [PodContainerState.UNSPECIFIED]: "unknown",
  [PodContainerState.CREATED]: "created",
  [PodContainerState.RUNNING]: "running",
  [PodContainerState.PAUSED]: "paused",
  [PodContainerState.STOPPING]: "stopping",
  [PodContainerState.EXITED]: "exited",
};

/** Formats pods as a table, unreadable ones included. */
export function podListLines({ pods, unreadable }: ListPodsResponse): string[] {
  return textTable(podHead, [...pods.map(podRow), ...unreadable.map(unreadablePodRow)]);
}

/** Formats the same as JSON: `{"pods": […], "unreadable": […]}`. */
export function podListJson(answer: ListPodsResponse): string {
  return JSON.stringify(toJson(ListPodsResponseSchema, answer, { alwaysEmitImplicit: true }), null, 2);
}

function podRow({ id, name, state, containers, startedAt }: Pod): string[] {
  const words = containers.map((each) => printableLine(`${each.name} ${containerWords(each)}`));
  return [id, printableLine(name), states[state] ?? String(state), words.join(", "), timeText(startedAt)];
}

function unreadablePodRow({ id, reason }: UnreadablePod): string[] {
  return [id, "", "unreadable", printableLine(reason), ""];
}

/** Formats everything known about a pod, and a table of its containers. */
export function podLines(pod: Pod): string[] {
  const { id, name, state, createdAt, startedAt, networks, labels, containers } = pod;
  const facts: readonly (readonly [string, string])[] = [
    ["id", id],
    ["name", name],
    ["state", states[state] ?? String(state)],
    ["created", timeText(createdAt)],
    ["started", timeText(startedAt)],
    ...networks.map((each) => ["network", [each.name, each.ipv4, each.ipv6].join(" ").trim()] as const),
    ...Object.entries(labels).map(([key, value]) => ["label", `${key}=${value}`] as const),
  ];
  const known = facts.flatMap(([what, value]) =>
    value === "" ? [] : [printableLine(`${what.padEnd(8)} ${value}`)],
  );
  const rows = containers.map((each) =>
    [
      each.name,
      containerWords(each),
      each.imageName,
      timeText(each.startedAt),
      timeText(each.exitedAt),
      each.id,
    ].map(printableLine),
  );
  return [...known, "", ...textTable(["CONTAINER", "STATE", "IMAGE", "STARTED", "EXITED", "ID"], rows)];
}

/** Formats a line for each pod that is new, changed or gone. */
export function changedPodLines(before: readonly Pod[], now: readonly Pod[]): string[] {
  const known = new Map(before.map((pod) => [pod.id, pod]));
  const ids = new Set(now.map(({ id }) => id));
  const changed = now.filter((pod) => {
    const old = known.get(pod.id);
    return old === undefined || !isDeepStrictEqual(toJson(PodSchema, old), toJson(PodSchema, pod));
  });
  return [
    ...changed.map((pod) => podSummary(pod)),
    ...before.filter(({ id }) => !ids.has(id)).map(({ id, name }) => printableLine(`${id} ${name} removed`)),
  ];
}

function podSummary({ id, name, state, containers }: Pod): string {
  const words = containers.map((each) => `${each.name} ${containerWords(each)}`);
  const rest = words.length === 0 ? "" : `: ${words.join(", ")}`;
  return printableLine(`${id} ${name} ${states[state] ?? state}${rest}`);
}

function containerWords({ state, exitCode }: PodContainer): string {
  const name = containerStates[state] ?? String(state);
  return state === PodContainerState.EXITED && exitCode !== undefined ? `${name} ${exitCode}` : name;
}

function timeText(time: Timestamp | undefined): string {
  return time === undefined ? "" : timestampDate(time).toISOString();
}
