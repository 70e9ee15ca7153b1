interface Facts {
  /** When it happened, nanoseconds since 1970. */
  readonly timeNs: bigint;
  /** Found by comparing states, not observed live. */
  readonly isReconciled: boolean;
}

/** An event of a pod or one of its apps. */
export interface PodFact extends Facts {
  readonly type:
    | "pod.created"
    | "pod.started"
    | "pod.exited"
    | "pod.removed"
    | "container.started"
    | "container.exited";
  readonly uuid: string;
  /** Empty when it is no longer known. */
  readonly name: string;
  /** Set for events of containers. */
  readonly container?: { readonly id: string; readonly name: string };
  /** Set for `container.exited`, if known. */
  readonly exitCode?: number;
}

/** An event of an image. */
export interface ImageFact extends Facts {
  readonly type: "image.added" | "image.removed";
  readonly id: string;
  readonly names: readonly string[];
}

/** From then on events may have been missed. Facts found by comparing precede it. */
export interface GapFact {
  readonly type: "gap";
  /** Undefined when no gateway has watched before. */
  readonly sinceNs: bigint | undefined;
  readonly reason: string;
}

/** A fact to be reported as an event. */
export type Fact = PodFact | ImageFact | GapFact;
