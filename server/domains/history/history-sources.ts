import type { FigureSource } from "../../domain/figure-source.ts";
import type { InventorySource } from "../../domain/inventory-source.ts";
import type { History, Sample } from "../../history/history.ts";

/** A source of samples, with the number that the history knows it by. */
export interface HistorySource {
  readonly source: number;
  readonly domain: string;
  /** As of an inventory source: a caller must be allowed to call one of them. */
  readonly services: readonly string[];
  /** @throws InfraError when its system cannot be read */
  read(signal: AbortSignal): Promise<Sample>;
}

/** Adds the inventory and the figures of the domains to a history. */
export function createHistorySources(
  history: Pick<History, "addSource">,
  of: { readonly inventory: readonly InventorySource[]; readonly figures: readonly FigureSource[] },
): readonly HistorySource[] {
  const resources = of.inventory.map((source): HistorySource => {
    const { domain, types, services, read, sample = read } = source;
    return {
      source: history.addSource(`${domain} resources ${types.join(" ")}`),
      domain,
      services,
      async read(signal) {
        const { resources: all, staleBecause } = await sample.call(source, signal);
        // A last known state says nothing about now.
        return staleBecause === undefined ? { resources: all } : undefined;
      },
    };
  });
  const counts = new Map<string, number>();
  const figures = of.figures.map((source): HistorySource => {
    const { domain, services } = source;
    const number = counts.get(domain) ?? 0;
    counts.set(domain, number + 1);
    return {
      source: history.addSource(`${domain} figures ${number}`),
      domain,
      services,
      read: async (signal) => ({ systems: await source.read(signal) }),
    };
  });
  return [...resources, ...figures];
}
