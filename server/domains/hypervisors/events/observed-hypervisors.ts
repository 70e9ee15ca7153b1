import { z } from "zod";
import type { Hypervisor } from "../inventory.ts";

const observedHypervisor = z.object({
  id: z.string(),
  threadCount: z.number(),
  memoryMib: z.number(),
  capabilities: z.array(z.enum(["storage", "gpu"])),
  gpus: z.array(z.object({ brand: z.string(), model: z.string() })),
  state: z.enum(["running", "off", "unknown"]),
  /** The state before it was unknown. */
  lastState: z.enum(["running", "off", "unknown"]),
  reason: z.string(),
  // Earlier versions did not keep it.
  isDefined: z.boolean().default(true),
  madeBy: z.string().nullable(),
});

const observedHypervisors = z.object({ hypervisors: z.array(observedHypervisor) });

export type ObservedHypervisor = Readonly<z.infer<typeof observedHypervisor>>;

/** The inventory as it was last told, as JSON: what is kept to compare the next one with. */
export interface ObservedHypervisors {
  readonly hypervisors: readonly ObservedHypervisor[];
}

/** Reads what was kept; undefined when it is not understood, as another version of hostplane may have written it. */
export function parseObservedHypervisors(json: unknown): ObservedHypervisors | undefined {
  const parsed = observedHypervisors.safeParse(json);
  return parsed.success ? parsed.data : undefined;
}

/** What is kept of an inventory. */
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
      // The first reason is the cause; what is found while it is tried again is not worth telling.
      reason: isStillUnknown ? last.reason : one.reason,
      madeBy: one.madeBy ?? null,
    };
  });
  return { hypervisors };
}

/** The inventory that was kept. */
export function inventoryFrom({ hypervisors }: ObservedHypervisors): readonly Hypervisor[] {
  return hypervisors.map(({ lastState: _lastState, madeBy, ...one }) => ({
    ...one,
    madeBy: madeBy ?? undefined,
  }));
}
