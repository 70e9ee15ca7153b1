import { z } from "zod";
import type { Hypervisor } from "../inventory.ts";

const observedHypervisor = z.object({
  id: z.string(),
  threadCount: z.number(),
  memoryMib: z.number(),
  capabilities: z.array(z.enum(["storage", "gpu"])),
  gpus: z.array(z.object({ brand: z.string(), model: z.string() })),
  state: z.enum(["running", "off", "unknown"]),
  /** Last known state, kept while the state is unknown. */
  lastState: z.enum(["running", "off", "unknown"]),
  reason: z.string(),
  // Earlier versions did not store it.
  isDefined: z.boolean().default(true),
  madeBy: z.string().nullable(),
});

const observedHypervisors = z.object({ hypervisors: z.array(observedHypervisor) });

export type ObservedHypervisor = Readonly<z.infer<typeof observedHypervisor>>;

/** The last published inventory, as JSON; kept for comparison with the next one. */
export interface ObservedHypervisors {
  readonly hypervisors: readonly ObservedHypervisor[];
}

/** Parses the stored inventory; undefined if the format is unknown, for example written by another version of hostplane. */
export function parseObservedHypervisors(json: unknown): ObservedHypervisors | undefined {
  const parsed = observedHypervisors.safeParse(json);
  return parsed.success ? parsed.data : undefined;
}

/** Converts an inventory to its stored form. */
export function observeHypervisors(
  before: ObservedHypervisors | undefined,
  inventory: readonly Hypervisor[],
): ObservedHypervisors {
  const earlier = new Map(before?.hypervisors.map((one) => [one.id, one]));
  const hypervisors = inventory.map((one): ObservedHypervisor => {
    const last = earlier.get(one.id);
    const isStillUnknown = one.state === "unknown" && last?.state === "unknown";
    return {
      ...one,
      capabilities: [...one.capabilities],
      gpus: [...one.gpus],
      lastState: one.state === "unknown" ? (last?.lastState ?? "unknown") : one.state,
      // The first reason is the cause; errors of later attempts are not worth an event.
      reason: isStillUnknown ? last.reason : one.reason,
      madeBy: one.madeBy ?? null,
    };
  });
  return { hypervisors };
}

/** Converts the stored form back to an inventory. */
export function inventoryFrom({ hypervisors }: ObservedHypervisors): readonly Hypervisor[] {
  return hypervisors.map(({ lastState: _lastState, madeBy, ...one }) => ({
    ...one,
    madeBy: madeBy ?? undefined,
  }));
}
