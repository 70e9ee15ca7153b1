interface Facts {
  /** When it happened, nanoseconds since 1970. */
  readonly timeNs: bigint;
  /** Nobody saw it happen: it was found by comparing. */
  readonly isReconciled: boolean;
}

/** Something that happened to a pod or an app of it. */
export interface PodFact extends Facts {
  readonly type:
    | "pod.created"
    | "pod.started"
    | "pod.exited"
    | "pod.removed"
    | "container.started"
    | "container.exited";
  readonly uuid: string;
  /** Empty when nothing tells it any more. */
  readonly name: string;
  /** Of events of containers. */
  readonly container?: { readonly id: string; readonly name: string };
  /** Of `container.exited`, where it is known. */
  readonly exitCode?: number;
}

/** Something that happened to an image. */
export interface ImageFact extends Facts {
  readonly type: "image.added" | "image.removed";
  readonly id: string;
  readonly names: readonly string[];
}

/** From then on something may have been missed. What was found by comparing is told before it. */
export interface GapFact {
  readonly type: "gap";
  /** Undefined when nobody ever looked before. */
  readonly sinceNs: bigint | undefined;
  readonly reason: string;
}

/** What is told as an event. */
export type Fact = PodFact | ImageFact | GapFact;
