// Pods and images as the runtime port reports them, independent of any particular runtime.

/** `unknown`: the runtime reports a state that is none of these. */
export type ContainerState = "created" | "running" | "paused" | "stopping" | "exited" | "unknown";

/**
 * Phase of a pod, derived from its app containers, or from its infra container while no app container has been started.
 * `created`: none was ever started. `running`: one is running, paused or stopping. `exited`: all that were started have
 * exited. `unknown`: the runtime reports that the pod is broken.
 */
export type PodPhase = "created" | "running" | "exited" | "unknown";

/** Times are nanoseconds since 1970; undefined for events that have not happened. */
export interface PodContainer {
  readonly id: string;
  readonly name: string;
  /** Whether it only keeps the pod's namespaces open and runs no program of the user. */
  readonly isInfra: boolean;
  readonly state: ContainerState;
  readonly image: { readonly id: string; readonly name: string };
  /** Undefined until it has exited. */
  readonly exitCode: number | undefined;
  /** Undefined while it does not run. */
  readonly pid: number | undefined;
  readonly createdAtNs: bigint;
  /** Time of its last start. */
  readonly startedAtNs: bigint | undefined;
  /** Time of its last exit; undefined while it runs. */
  readonly exitedAtNs: bigint | undefined;
  /** Annotations, except those that the runtime sets itself. Sorted by key. */
  readonly annotations: ReadonlyMap<string, string>;
}

export interface PodNetwork {
  readonly name: string;
  /** Empty if it has no such address. */
  readonly ipv4: string;
  readonly ipv6: string;
}

export interface RuntimePod {
  readonly id: string;
  /** UUID for APIs that need one; constant for the life of the pod. */
  readonly uuid: string;
  readonly name: string;
  readonly phase: PodPhase;
  /** Nanoseconds since 1970; the start is that of the first started container. */
  readonly createdAtNs: bigint;
  readonly startedAtNs: bigint | undefined;
  /** Sorted by key. */
  readonly labels: ReadonlyMap<string, string>;
  /** Path relative to the root of the cgroup file system; undefined for a pod without a cgroup. */
  readonly cgroup: string | undefined;
  /** Networks in which it has an address now, by name; none while no container runs. */
  readonly networks: readonly PodNetwork[];
  /** All containers in order of creation, including the infra container. */
  readonly containers: readonly PodContainer[];
  /** The runtime's own description of the pod, as JSON. */
  readonly document: string;
}

export interface RuntimeImage {
  /** A digest in hexadecimal, without `sha256:`. */
  readonly id: string;
  /** Names with tags, e.g. `localhost/web:2.0`; empty for an image that lost its last name. */
  readonly names: readonly string[];
  readonly sizeBytes: bigint;
  /** When it was built, nanoseconds since 1970. When it arrived on this host is not known. */
  readonly createdAtNs: bigint;
  readonly format: "oci" | "docker" | "unknown";
  /** Version of the manifest format, e.g. `v1`; empty if unknown. */
  readonly formatVersion: string;
  /** Sorted by key. */
  readonly labels: ReadonlyMap<string, string>;
  readonly annotations: ReadonlyMap<string, string>;
  /** The runtime's own description of the image, as JSON. */
  readonly document: string;
}

/** A pod whose details the runtime currently cannot report. */
export interface UnreadablePod {
  readonly podId: string;
  /** Same as `uuid` of `RuntimePod`. */
  readonly podUuid: string;
  /** The runtime's message. */
  readonly why: string;
}

/** All pods and images of the host, sorted by id. Containers without a pod are left out. */
export interface RuntimeState {
  readonly pods: readonly RuntimePod[];
  /** These are either absent from `pods` or there in their last known state. */
  readonly unreadable: readonly UnreadablePod[];
  readonly images: readonly RuntimeImage[];
}
