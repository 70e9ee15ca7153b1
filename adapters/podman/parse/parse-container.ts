import { z } from "zod";
import type { ContainerState, PodContainer, PodNetwork } from "../runtime-state.ts";
import { idOf, listOf, parseReply, someTimeOf, timeOf, wordsOf } from "./parse-reply.ts";

const states: Readonly<Record<string, ContainerState>> = {
  configured: "created",
  created: "created",
  initialized: "created",
  running: "running",
  paused: "paused",
  stopping: "stopping",
  // Exited, but not cleaned up yet.
  stopped: "exited",
  exited: "exited",
};

/** Maps Podman's container state to the port's. */
export function containerStateFrom(word: string): ContainerState {
  return states[word] ?? "unknown";
}

const addresses = z.object({ IPAddress: z.string().default(""), GlobalIPv6Address: z.string().default("") });

const container = z.object({
  Id: idOf,
  Name: z.string(),
  Created: someTimeOf,
  State: z.object({
    Status: z.string(),
    Pid: z.number().int().default(0),
    ExitCode: z.number().int().default(0),
    StartedAt: timeOf,
    FinishedAt: timeOf,
  }),
  Image: z.string().default(""),
  ImageName: z.string().default(""),
  // Missing in some replies of 4.3.1 for other containers.
  IsInfra: z.boolean().default(false),
  Pod: z.string().default(""),
  NetworkSettings: z.object({ Networks: z.record(z.string(), addresses).nullish() }).nullish(),
  Config: z.object({ Annotations: wordsOf }),
  HostConfig: z
    .object({ LogConfig: z.object({ Type: z.string().default(""), Path: z.string().default("") }).nullish() })
    .nullish(),
});

export interface InspectedContainer {
  readonly container: PodContainer;
  /** Empty for a container without a pod. */
  readonly podId: string;
  /** Networks in which it has an address, by name. */
  readonly networks: readonly PodNetwork[];
  /** The file on Podman's machine that records its output; undefined if the output goes elsewhere or nowhere. */
  readonly logPath: string | undefined;
}

// Annotations that Podman and its OCI runtime set themselves.
const ownAnnotation = /^io\.(podman|kubernetes\.cri-o|container)\./;

// Two names of one log driver.
const fileDrivers: readonly string[] = ["k8s-file", "json-file"];

/** Parses the reply to `containers/ID/json`. @throws InfraError PODMAN_FAILED */
export function parseContainer(text: string): InspectedContainer {
  const { State, NetworkSettings, Config, HostConfig, ...rest } = parseReply(
    "containers/ID/json",
    container,
    text,
  );
  const state = containerStateFrom(State.Status);
  const networks = Object.entries(NetworkSettings?.Networks ?? {})
    .map(([name, { IPAddress, GlobalIPv6Address }]) => ({ name, ipv4: IPAddress, ipv6: GlobalIPv6Address }))
    .filter(({ ipv4, ipv6 }) => ipv4 !== "" || ipv6 !== "")
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const { Type = "", Path = "" } = HostConfig?.LogConfig ?? {};
  return {
    podId: rest.Pod,
    networks,
    logPath: fileDrivers.includes(Type) && Path.startsWith("/") ? Path : undefined,
    container: {
      id: rest.Id,
      name: rest.Name,
      isInfra: rest.IsInfra,
      state,
      image: { id: rest.Image.replace(/^sha256:/, ""), name: rest.ImageName },
      exitCode: state === "exited" ? State.ExitCode : undefined,
      pid: State.Pid > 0 ? State.Pid : undefined,
      createdAtNs: rest.Created,
      startedAtNs: State.StartedAt,
      // While it runs again, this is the time of its start, or still that of the previous exit.
      exitedAtNs: state === "exited" ? State.FinishedAt : undefined,
      annotations: new Map([...Config.Annotations].filter(([key]) => !ownAnnotation.test(key))),
    },
  };
}

const row = z.object({
  Id: idOf,
  IsInfra: z.boolean().default(false),
  Pod: z.string().default(""),
  ImageID: z.string().default(""),
  State: z.string(),
  Names: listOf(z.string()),
  ExitCode: z.number().default(0),
  ExitedAt: z.number().default(0),
  StartedAt: z.number().default(0),
  Pid: z.number().default(0),
  Networks: listOf(z.string()),
});

/** A container as it appears in lists: enough to detect whether it has changed since it was inspected. */
export type ContainerRow = z.infer<typeof row>;

/** Parses the reply to `containers/json?all=true`. @throws InfraError PODMAN_FAILED */
export function parseContainerRows(text: string): readonly ContainerRow[] {
  return parseReply("containers/json", listOf(row), text);
}
