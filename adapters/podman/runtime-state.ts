// What the runtime port tells of pods and images, in no runtime's own words.

/** `unknown`: the runtime has a word for it that is none of these. */
export type ContainerState = "created" | "running" | "paused" | "stopping" | "exited" | "unknown";

/**
 * What a pod does, by what its apps do, and as long as none was ever started, by what its infra container does. `created`: none was
 * ever started. `running`: one runs, or is paused or stopping. `exited`: all that were started have ended. `unknown`: the runtime
 * says that the pod is broken.
 */
export type PodPhase = "created" | "running" | "exited" | "unknown";

/** Times are nanoseconds since 1970; undefined for what has not happened. */
export interface PodContainer {
  readonly id: string;
  readonly name: string;
  /** Whether it only holds the pod's namespaces, and is nobody's program. */
  readonly isInfra: boolean;
  readonly state: ContainerState;
  readonly image: { readonly id: string; readonly name: string };
  /** Undefined until it has exited. */
  readonly exitCode: number | undefined;
  /** Undefined while it does not run. */
  readonly pid: number | undefined;
  readonly createdAtNs: bigint;
  /** Of its last start. */
  readonly startedAtNs: bigint | undefined;
  /** Of its last end; undefined while it runs. */
  readonly exitedAtNs: bigint | undefined;
  /** Without those that the runtime sets for itself. In the order of keys. */
  readonly annotations: ReadonlyMap<string, string>;
}

export interface PodNetwork {
  readonly name: string;
  /** Empty where there is none. */
  readonly ipv4: string;
  readonly ipv6: string;
}

export interface RuntimePod {
  readonly id: string;
  /** Stands for the pod where a UUID is wanted; the same for the pod's life. */
  readonly uuid: string;
  readonly name: string;
  readonly phase: PodPhase;
  /** Nanoseconds since 1970; the start is the earliest of its containers'. */
  readonly createdAtNs: bigint;
  readonly startedAtNs: bigint | undefined;
  /** In the order of keys. */
  readonly labels: ReadonlyMap<string, string>;
  /** Path below the cgroup file system's root; undefined for a pod that has none. */
  readonly cgroup: string | undefined;
  /** Those that it has an address in now, by name; none while nothing of it runs. */
  readonly networks: readonly PodNetwork[];
  /** In the order that they were made in, the infra container among them. */
  readonly containers: readonly PodContainer[];
  /** What the runtime itself tells of the pod, as JSON. */
  readonly document: string;
}

export interface RuntimeImage {
  /** A digest in hexadecimal, without `sha256:`. */
  readonly id: string;
  /** With their tags, as `localhost/web:2.0`; none for an image that lost its last. */
  readonly names: readonly string[];
  readonly sizeBytes: bigint;
  /** When it was built, nanoseconds since 1970. When it came to this host is not known. */
  readonly createdAtNs: bigint;
  readonly format: "oci" | "docker" | "unknown";
  /** Of the format's manifest, as `v1`; empty where it is unknown. */
  readonly formatVersion: string;
  /** In the order of keys. */
  readonly labels: ReadonlyMap<string, string>;
  readonly annotations: ReadonlyMap<string, string>;
  /** What the runtime itself tells of the image, as JSON. */
  readonly document: string;
}

/** A pod of which the runtime cannot tell now. */
export interface UnreadablePod {
  readonly podId: string;
  /** As `uuid` of `RuntimePod`. */
  readonly podUuid: string;
  /** In the runtime's words. */
  readonly why: string;
}

/** All pods and images of the host, in the order of ids. Containers that belong to no pod are left out. */
export interface RuntimeState {
  readonly pods: readonly RuntimePod[];
  /** They are not among `pods`, or as they were last known. */
  readonly unreadable: readonly UnreadablePod[];
  readonly images: readonly RuntimeImage[];
}
