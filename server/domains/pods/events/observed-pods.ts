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
  /** When it was last started or ended. */
  changedAtNs: ns.nullable(),
  /** A start of one that runs, or an exit of one that does not: records are not always in the order of their times. */
  held: z.object({ timeNs: ns, exitCode: z.number().nullable() }).nullable(),
});

const observedPod = z.object({
  id: z.string(),
  uuid: z.string(),
  name: z.string(),
  /** Whether it was told; what holds a pod together is made before it. */
  isCreated: z.boolean(),
  /** Whether it was told that it was started, and not yet that it has exited. */
  isStarted: z.boolean(),
  /** When its last app ended, while it is not told that the pod has exited. */
  pendingExitNs: ns.nullable(),
  containers: z.array(observedContainer),
});

const observedImage = z.object({
  id: z.string(),
  names: z.array(z.string()),
  /** Null for one that was there before the gateway. */
  addedAtNs: ns.nullable(),
});

const observedPods = z.object({
  /** The last event that was told, of the runtime's own record. */
  last: z.object({ key: z.string(), timeNs: ns }).nullable(),
  pods: z.array(observedPod),
  images: z.array(observedImage),
  /** While what is known is to be compared with what is. */
  comparing: z
    .object({
      /** Since then something may have been missed, which is to be told; null when nothing is known to have been. */
      gap: z.object({ sinceNs: ns, reason: z.string() }).nullable(),
      /** Pods, containers and images of which events tell, so that there is nothing to compare. */
      seen: z.array(z.string()),
    })
    .nullable(),
});

export type ObservedContainer = Readonly<z.infer<typeof observedContainer>>;
export type ObservedPod = Readonly<z.infer<typeof observedPod>>;
export type ObservedImage = Readonly<z.infer<typeof observedImage>>;

/** Pods and images as they were last told. Times are nanoseconds since 1970. */
export type ObservedPods = Readonly<z.infer<typeof observedPods>>;

/** Reads what `jsonFromObservedPods` has made; undefined when it is not understood, as another version of hostplane may have written it. */
export function parseObservedPods(json: unknown): ObservedPods | undefined {
  const parsed = observedPods.safeParse(json);
  return parsed.success ? parsed.data : undefined;
}

/** Plain data, with times as text. */
export function jsonFromObservedPods(observed: ObservedPods): unknown {
  return JSON.parse(
    JSON.stringify(observed, (_, value) => (typeof value === "bigint" ? String(value) : value)),
  );
}

/** The same, to be compared with what is: after a restart, or a gap. */
export function withComparing(observed: ObservedPods): ObservedPods {
  return { ...observed, comparing: { gap: observed.comparing?.gap ?? null, seen: [] } };
}
