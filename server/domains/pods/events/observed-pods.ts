import { z } from "zod";

const ns = z
  .string()
  .regex(/^\d{1,30}$/)
  .transform(BigInt);

const observedContainer = z.object({
  id: z.string(),
  name: z.string(),
  isInfra: z.boolean(),
  isRunning: z.boolean(),
  /** When it last started or exited. */
  changedAtNs: ns.nullable(),
  /**
   * A start of a running container, or an exit of one that is not running, kept for later: records are not always in
   * chronological order.
   */
  held: z.object({ timeNs: ns, exitCode: z.number().nullable() }).nullable(),
});

const observedPod = z.object({
  id: z.string(),
  uuid: z.string(),
  name: z.string(),
  /** Whether its creation was reported. The infra container is created before it. */
  isCreated: z.boolean(),
  /** Whether its start was reported and its exit was not yet. */
  isStarted: z.boolean(),
  /** When its last app exited, until the pod's exit is reported. */
  pendingExitNs: ns.nullable(),
  containers: z.array(observedContainer),
});

const observedImage = z.object({
  id: z.string(),
  names: z.array(z.string()),
  /** Null if it was imported before the gateway started to watch. */
  addedAtNs: ns.nullable(),
});

const observedPods = z.object({
  /** The last reported event in the runtime's own record. */
  last: z.object({ key: z.string(), timeNs: ns }).nullable(),
  pods: z.array(observedPod),
  images: z.array(observedImage),
  /** Set until the reported state has been compared with the actual one. */
  comparing: z
    .object({
      /** A possible gap in the events that must be reported; null when no gap is known. */
      gap: z.object({ sinceNs: ns, reason: z.string() }).nullable(),
      /** Pods, containers and images that are covered by events, so that they need no comparison. */
      seen: z.array(z.string()),
    })
    .nullable(),
});

export type ObservedContainer = Readonly<z.infer<typeof observedContainer>>;
export type ObservedPod = Readonly<z.infer<typeof observedPod>>;
export type ObservedImage = Readonly<z.infer<typeof observedImage>>;

/** Pods and images as last reported. Times are nanoseconds since 1970. */
export type ObservedPods = Readonly<z.infer<typeof observedPods>>;

/** Parses the output of `jsonFromObservedPods`; undefined when it is in another format, as from another version of hostplane. */
export function parseObservedPods(json: unknown): ObservedPods | undefined {
  const parsed = observedPods.safeParse(json);
  return parsed.success ? parsed.data : undefined;
}

/** Converts to plain data, with times as strings. */
export function jsonFromObservedPods(observed: ObservedPods): unknown {
  return JSON.parse(
    JSON.stringify(observed, (_, value) => (typeof value === "bigint" ? String(value) : value)),
  );
}

/** Marks the state for a comparison with the actual one, after a restart or a gap. */
export function withComparing(observed: ObservedPods): ObservedPods {
  return { ...observed, comparing: { gap: observed.comparing?.gap ?? null, seen: [] } };
}
