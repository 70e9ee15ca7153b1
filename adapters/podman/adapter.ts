import type { Snapshot } from "../host/snapshot.ts";
import type { RuntimeImage, RuntimePod, RuntimeState } from "./runtime-state.ts";

// The runtime port: what the gateway needs of whatever runs pods on this host, in no runtime's own words.

interface EventFacts {
  /** Nanoseconds since 1970. */
  readonly timeNs: bigint;
  /** The same when the same event is told again, as by `history`, and no other event's. */
  readonly key: string;
}

/** A place in what the runtime has recorded, behind which `PodRuntime.events` goes on. */
export interface EventPlace {
  readonly key: string;
  readonly timeNs: bigint;
}

/** Something that happened, as the runtime recorded it: a restart is an exit and a start. */
export type RuntimeEvent =
  | (EventFacts & {
      readonly kind: "podCreated" | "podRemoved";
      readonly podId: string;
      readonly podUuid: string;
      readonly podName: string;
    })
  | (EventFacts & {
      readonly kind: "containerCreated" | "containerStarted" | "containerExited" | "containerRemoved";
      readonly podId: string;
      readonly podUuid: string;
      /** Empty where nothing tells any more how a pod was called. */
      readonly podName: string;
      readonly containerId: string;
      readonly containerName: string;
      readonly isInfra: boolean;
      /** Of `containerExited`. */
      readonly exitCode?: number;
    })
  /** Found by comparing the images that are there, since no runtime tells it: `history` has none of these. */
  | (EventFacts & {
      readonly kind: "imageAdded" | "imageRemoved";
      readonly imageId: string;
      readonly imageNames: readonly string[];
    })
  /** What happened from then until now may not be told: the runtime no longer keeps it, or the reader was too slow. */
  | (EventFacts & {
      readonly kind: "gap";
      readonly sinceNs: bigint;
      /** Of one with which `events` begins: the end of what was recorded; undefined if nothing was. */
      readonly place?: EventPlace;
    });

/** Events between the two, both nanoseconds since 1970. */
export interface EventWindow {
  readonly sinceNs: bigint;
  readonly untilNs: bigint;
}

/** A part of a line that a container printed. */
export interface LogPiece {
  readonly stream: "stdout" | "stderr";
  /** When it was printed, nanoseconds since 1970, as exactly as the runtime tells: Podman 4.3 tells whole seconds. */
  readonly timeNs: bigint;
  /** Without the line's end. Any bytes: nothing says that they are text. */
  readonly bytes: Uint8Array;
  /** Whether the line ends here. The next piece of the stream goes on with it otherwise. */
  readonly endsLine: boolean;
}

export interface LogOptions {
  /** Nanoseconds since 1970, as `LogPiece.timeNs`: from then on, and before then; from the first to the last unless told. */
  readonly sinceNs?: bigint;
  readonly untilNs?: bigint;
  /**
   * Goes on with what is printed later, also when the container is started anew and when the runtime was away meanwhile, until
   * the container is removed or `untilNs` has come. False unless told.
   */
  readonly follow?: boolean;
  /** Both unless told. */
  readonly streams?: readonly ("stdout" | "stderr")[];
}

/** A container that is of an image, whether it runs or not. */
export interface ImageUser {
  readonly containerId: string;
  readonly name: string;
  /** Both undefined for one that belongs to no pod. */
  readonly podId: string | undefined;
  readonly podUuid: string | undefined;
  readonly isInfra: boolean;
}

/** One change that the runtime makes. Ids must have passed `names.ts`. */
export type RuntimeStep =
  /** Refused while something of the pod is paused. */
  | { readonly kind: "startPod"; readonly podId: string }
  /**
   * Asks its programs to end and kills those that have not after so many seconds; what is paused goes on for that. Nothing of the
   * pod runs or is paused after it.
   */
  | { readonly kind: "stopPod"; readonly podId: string; readonly graceSeconds: number }
  /** `signal` as `SIGTERM`. All but SIGKILL are refused while something of the pod is paused. */
  | { readonly kind: "killPod"; readonly podId: string; readonly signal: string }
  /** `force`: also one that runs. */
  | { readonly kind: "removePod"; readonly podId: string; readonly force: boolean }
  /** `reference` as `docker.io/library/busybox:1.35`. */
  | { readonly kind: "pullImage"; readonly reference: string }
  /**
   * With all its names. `force`: also one that containers use, which are removed with it; of a pod whose infra container uses it
   * all are.
   */
  | { readonly kind: "removeImage"; readonly imageId: string; readonly force: boolean };

export interface RunOptions {
  /** Gives up a `pullImage`; others run to their end. */
  readonly signal?: AbortSignal;
  /** Told what a `pullImage` does, for people. */
  readonly onProgress?: (words: string) => void;
}

export interface RuntimeOutcome {
  /** The image that a `pullImage` brought. */
  readonly imageId?: string;
}

export interface RuntimeInfo {
  /** As `Podman`. */
  readonly name: string;
  /** As `4.3.1`. */
  readonly version: string;
  /** Where it keeps images and containers. */
  readonly storeDirectory: string;
  /** Where its configuration is. */
  readonly configDirectory: string;
}

/** Something `hostplane doctor` and ListBackends tell about the system. */
export interface RuntimeFinding {
  readonly ok: boolean;
  readonly what: string;
  /** The command or edit that would mend it; only where `ok` is false. */
  readonly fix?: string;
}

export interface RuntimeInspection {
  /** Undefined when it cannot be reached. */
  readonly version: string | undefined;
  readonly findings: readonly RuntimeFinding[];
}

/**
 * Whatever runs pods on this host. The real one speaks to Podman's unix socket; the sandbox keeps pods in memory. Both pass
 * test/adapters/podman/contract.ts.
 */
export interface PodRuntime {
  readonly kind: "real" | "sandbox";

  /**
   * The newest state, kept by the runtime's own events and compared with full lists now and then: a read costs no call while
   * nothing has changed, and readers share what it does cost. A read that begins after a `run` has ended sees what it did.
   * @throws InfraError PODMAN_UNAVAILABLE and its like, and the signal's reason
   */
  read(signal?: AbortSignal): Promise<Snapshot<RuntimeState>>;

  /**
   * Calls back after each change of the state, whoever made it, when the runtime is gone and when it is back (a reader learns
   * which from `read`). Returns the function that ends it.
   */
  subscribe(onChange: () => void): () => void;

  /**
   * What happens from now on, each event once, in the order in which the runtime recorded it, until the signal; a few at a time.
   * While the runtime is away it waits; what happened meanwhile comes when it is back, or a `gap` does. With `after` it begins with
   * what was recorded after that event, which was told before and is none of an image, all at once, also when that is nothing; with
   * a `gap`, if the runtime no longer knows the event. The place of a gap will do as well as an event.
   * @throws InfraError as `history` while it reads what has been
   */
  events(
    options: { readonly after?: EventPlace },
    signal: AbortSignal,
  ): AsyncIterable<readonly RuntimeEvent[]>;

  /**
   * What the runtime has recorded of the window and still knows, each event once, in its order; nothing of images.
   * @throws InfraError PODMAN_UNAVAILABLE and its like, and the signal's reason
   */
  history(window: EventWindow, signal?: AbortSignal): Promise<readonly RuntimeEvent[]>;

  /**
   * What a container printed, as many pieces at a time as came together. No more is read from the runtime than the reader
   * takes. Without `follow` it is what was printed before the call, and perhaps in the second after it. With it no pieces at all
   * come once, when that has been told. Ends without an error when the signal is aborted.
   * @throws InfraError CONTAINER_NOT_FOUND, LOGS_UNAVAILABLE (nothing keeps its output), and as `read`
   */
  logs(containerId: string, options: LogOptions, signal: AbortSignal): AsyncIterable<readonly LogPiece[]>;

  /** One pod, asked of the runtime now. @throws InfraError POD_NOT_FOUND and as `read` */
  inspectPod(podId: string, signal?: AbortSignal): Promise<RuntimePod>;

  /** What the runtime tells of a container, as JSON. @throws InfraError CONTAINER_NOT_FOUND and as `read` */
  inspectContainer(containerId: string, signal?: AbortSignal): Promise<string>;

  /** One image by its id, asked of the runtime now. @throws InfraError IMAGE_NOT_FOUND and as `read` */
  inspectImage(imageId: string, signal?: AbortSignal): Promise<RuntimeImage>;

  /**
   * Every container that is of an image, in pods and outside of them, asked of the runtime now; none for an image that is not there.
   * @throws InfraError as `read`
   */
  imageUsers(imageId: string, signal?: AbortSignal): Promise<readonly ImageUser[]>;

  /** What `run` would ask of the runtime, as a method and a path, for people. */
  commandOf(step: RuntimeStep): readonly string[];

  /**
   * Makes one change and ends when the runtime has made it; the state is stale from then on. Starting what runs and stopping
   * what does not changes nothing.
   * @throws InfraError POD_NOT_FOUND, POD_STATE, POD_START_FAILED, IMAGE_NOT_FOUND, IMAGE_IN_USE, IMAGE_PULL_FAILED, INVALID_FIELD, CALLER_LEFT,
   *   PODMAN_UNAVAILABLE, PODMAN_DENIED, PODMAN_FAILED
   */
  run(step: RuntimeStep, options?: RunOptions): Promise<RuntimeOutcome>;

  /** Asked once for each connection, since it takes a second. @throws InfraError as `read` */
  info(signal?: AbortSignal): Promise<RuntimeInfo>;

  /** What is there and what is missing. Never throws. */
  inspect(): Promise<RuntimeInspection>;

  /** Ends everything that is followed, without an error. */
  close(): Promise<void>;
}
