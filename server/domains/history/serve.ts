import type { DomainContext, DomainServices } from "../../domain/domain-services.ts";
import { createHistorySources } from "./history-sources.ts";
import { beginSampling } from "./sampling.ts";
import { createHistoryService } from "./service.ts";

/** Creates the history of the resources and figures of all domains. */
export function serveHistory({
  history,
  served,
  log,
}: Pick<DomainContext, "history" | "served" | "log">): DomainServices {
  const domains = [...served.values()];
  const sources = createHistorySources(history, {
    inventory: domains.flatMap(({ inventory }) => inventory ?? []),
    figures: domains.flatMap(({ figures }) => figures ?? []),
  });
  return {
    registrations: [createHistoryService(history, sources)],
    planners: [],
    backends: [],
    beginSchedules: () =>
      beginSampling({
        history,
        sources,
        onFailed: (error) => log.warn("figures could not be sampled for the history", error),
      }),
  };
}
