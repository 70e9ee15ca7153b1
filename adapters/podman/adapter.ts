import type { Snapshot } from "../host/snapshot.ts";
import type { RuntimeImage, RuntimePod, RuntimeState } from "./runtime-state.ts";

// The runtime port: what the gateway needs from the pod runtime of this host, independent of any particular runtime.

interface EventFacts {
  /** Nanoseconds since 1970. */
  readonly timeNs: bigint;
  /** Unique to the event, and the same whenever the event is reported again, e.g. by `history`. */
  readonly key: string;
}

/** A position in the runtime's records, after which `PodRuntime.events` continues. */
export interface EventPlace {
  readonly key: string;
  readonly timeNs: bigint;
}

/** An event as the runtime recorded it: a restart is an exit and a start. */
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
      /** Empty if the pod's name is no longer known. */
      readonly podName: string;
      readonly containerId: string;
      readonly containerName: string;
      readonly isInfra: boolean;
      /** Only for `containerExited`. */
      readonly exitCode?: number;
    })
  /** Found by comparing lists of images, since no runtime reports it reliably. Not part of `history`. */
  | (EventFacts & {
      readonly kind: "imageAdded" | "imageRemoved";
      readonly imageId: string;
      readonly imageNames: readonly string[];
    })
  /** Events in this period may be missing: the runtime no longer keeps them, or the reader was too slow. */
  | (EventFacts & {
      readonly kind: "gap";
      readonly sinceNs: bigint;
      /** End of the records, for a gap at the start of `events`; undefined if there were none. */
      readonly place?: EventPlace;
    });

/** Events between two times, both nanoseconds since 1970. */
export interface EventWindow {
  readonly sinceNs: bigint;
  readonly untilNs: bigint;
}

/** All or part of a line that a container printed. */
export interface LogPiece {
  readonly stream: "stdout" | "stderr";
  /**
   * When it was printed, nanoseconds since 1970, as precisely as the runtime reports it: Podman 4.3 reports whole
   * seconds.
   */
  readonly timeNs: bigint;
  /** Content without the line ending. Any bytes, not necessarily text. */
  readonly bytes: Uint8Array;
  /** Whether the line ends here. Otherwise the next piece of the stream continues it. */
  readonly endsLine: boolean;
}

export interface LogOptions {
  /**
   * Start (inclusive) and end (exclusive) as nanoseconds since 1970, compared with `LogPiece.timeNs`; by default, the
   * whole log.
   */
  readonly sinceNs?: bigint;
  readonly untilNs?: bigint;
  /**
   * Continues with later output, even after a restart of the container or an outage of the runtime, until the container
   * is removed or `untilNs` is reached. False by default.
   */
  readonly follow?: boolean;
  /** Both by default. */
  readonly streams?: readonly ("stdout" | "stderr")[];
}

/** A container that uses an image, running or not. */
export interface ImageUser {
  readonly containerId: string;
  readonly name: string;
  /** Both undefined for a container without a pod. */
  readonly podId: string | undefined;
  readonly podUuid: string | undefined;
  readonly isInfra: boolean;
}

/** A change that the runtime makes. Ids must have passed `names.ts`. */
export type RuntimeStep =
  /** Refused while any container of the pod is paused. */
  | { readonly kind: "startPod"; readonly podId: string }
  /**
   * Asks its programs to stop and kills those still running after this many seconds; paused containers are resumed
   * first. Afterwards no container of the pod is running or paused.
   */
  | { readonly kind: "stopPod"; readonly podId: string; readonly graceSeconds: number }
  /** `signal` is a name such as `SIGTERM`. Only SIGKILL is allowed while any container of the pod is paused. */
  | { readonly kind: "killPod"; readonly podId: string; readonly signal: string }
  /** `force`: also removes a running pod. */
  | { readonly kind: "removePod"; readonly podId: string; readonly force: boolean }
  /** `reference` is e.g. `docker.io/library/busybox:1.35`. */
  | { readonly kind: "pullImage"; readonly reference: string }
  /**
   * Removes the image with all its names. `force`: also if containers use it, which are then removed too. If it is the
   * image of an infra container, all containers of the pod are removed.
   */
  | { readonly kind: "removeImage"; readonly imageId: string; readonly force: boolean };

export interface RunOptions {
  /** Cancels a `pullImage`; other steps run to completion. */
  readonly signal?: AbortSignal;
  /** Called with the progress of a `pullImage`, as text for users. */
  readonly onProgress?: (words: string) => void;
}

export interface RuntimeOutcome {
  /** The image that was pulled by `pullImage`. */
  readonly imageId?: string;
}

export interface RuntimeInfo {
  /** E.g. `Podman`. */
  readonly name: string;
  /** E.g. `4.3.1`. */
  readonly version: string;
  /** Directory of its images and containers. */
  readonly storeDirectory: string;
  /** Directory of its configuration. */
  readonly configDirectory: string;
}

/** A check result that `hostplane doctor` and ListBackends report. */
export interface RuntimeFinding {
  readonly ok: boolean;
  readonly what: string;
  /** The command or edit that fixes the problem; only where `ok` is false. */
  readonly fix?: string;
}

export interface RuntimeInspection {
  /** Undefined when it cannot be reached. */
  readonly version: string | undefined;
  readonly findings: readonly RuntimeFinding[];
}

/**
 * The pod runtime of this host. The real adapter uses Podman's unix socket; the sandbox keeps pods in memory. Both pass
 * test/adapters/podman/contract.ts.
 */
export interface PodRuntime {
  readonly kind: "real" | "sandbox";

  /**
   * Returns the current state, which is updated from the runtime's events and periodically compared with full lists. A
   * read makes no calls while nothing has changed, and concurrent readers share the calls. A read that starts after a
   * `run` has finished includes its change.
   * @throws InfraError PODMAN_UNAVAILABLE, PODMAN_DENIED, PODMAN_FAILED, and the signal's reason
   */
  read(signal?: AbortSignal): Promise<Snapshot<RuntimeState>>;

  /**
   * Calls back after each change of the state, whatever its source, and when the runtime becomes unreachable or
   * reachable again (`read` shows which). Returns a function that unsubscribes.
   */
  subscribe(onChange: () => void): () => void;

  /**
   * Yields new events in batches, each event once, in the order in which the runtime recorded them, until the signal
   * aborts. While the runtime is unreachable it waits, and then yields the events since, or a `gap`. With `after`, it
   * first yields everything recorded after that event as one batch, which may be empty. The event must have been
   * reported before and must not be an image event; the place of a `gap` works too. The batch starts with a `gap` if
   * the runtime no longer has the event.
   * @throws InfraError as `history`, while it reads past records
   */
  events(
    options: { readonly after?: EventPlace },
    signal: AbortSignal,
  ): AsyncIterable<readonly RuntimeEvent[]>;

  /**
   * Returns the recorded events of the window that the runtime still has, each event once, in its order; no image
   * events.
   * @throws InfraError PODMAN_UNAVAILABLE, PODMAN_DENIED, PODMAN_FAILED, and the signal's reason
   */
  history(window: EventWindow, signal?: AbortSignal): Promise<readonly RuntimeEvent[]>;

  /**
   * Yields what a container printed, in batches of pieces that arrived together, with backpressure to the runtime.
   * Without `follow`, it yields the output up to the call and possibly up to a second after it. With `follow`, it
   * yields one empty batch once past output has been delivered. Ends without an error when the signal is aborted.
   * @throws InfraError CONTAINER_NOT_FOUND, LOGS_UNAVAILABLE (its output is not recorded), and as `read`
   */
  logs(containerId: string, options: LogOptions, signal: AbortSignal): AsyncIterable<readonly LogPiece[]>;

  /** Queries one pod, uncached. @throws InfraError POD_NOT_FOUND and as `read` */
  inspectPod(podId: string, signal?: AbortSignal): Promise<RuntimePod>;

  /** Returns the runtime's description of a container, as JSON. @throws InfraError CONTAINER_NOT_FOUND and as `read` */
  inspectContainer(containerId: string, signal?: AbortSignal): Promise<string>;

  /** Queries one image by its id, uncached. @throws InfraError IMAGE_NOT_FOUND and as `read` */
  inspectImage(imageId: string, signal?: AbortSignal): Promise<RuntimeImage>;

  /**
   * Queries all containers that use an image, in and outside pods, uncached; empty if there is no such image.
   * @throws InfraError as `read`
   */
  imageUsers(imageId: string, signal?: AbortSignal): Promise<readonly ImageUser[]>;

  /** Returns the method and path of the request that `run` would make, for display. */
  commandOf(step: RuntimeStep): readonly string[];

  /**
   * Makes one change and resolves when the runtime has made it; the cached state is stale from then on. Starting a
   * running pod or stopping a stopped one changes nothing.
   * @throws InfraError POD_NOT_FOUND, POD_STATE, POD_START_FAILED, IMAGE_NOT_FOUND, IMAGE_IN_USE, IMAGE_PULL_FAILED,
   *   INVALID_FIELD, CALLER_LEFT, PODMAN_UNAVAILABLE, PODMAN_DENIED, PODMAN_FAILED
   */
  run(step: RuntimeStep, options?: RunOptions): Promise<RuntimeOutcome>;

  /**
   * Returns the runtime's properties; queried once per connection, since it takes a second. @throws InfraError as
   * `read`
   */
  info(signal?: AbortSignal): Promise<RuntimeInfo>;

  /** Checks the runtime's installation. Never throws. */
  inspect(): Promise<RuntimeInspection>;

  /** Ends all event and log streams, without an error. */
  close(): Promise<void>;
}
