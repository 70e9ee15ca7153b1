import { HistoryService } from "../../../gen/hostplane/v1/history_pb.ts";
import type { DomainContext, DomainServices } from "../../domain/domain-services.ts";
import { registerAccess } from "../../rpc/access/method-access.ts";
import { createHistorySources } from "./history-sources.ts";
import { beginSampling } from "./sampling.ts";
import { createHistoryService } from "./service.ts";

/** Creates the history of the resources and figures of all domains. */
export function serveHistory({
  history,
  served,
  log,
  visibilityOf,
}: Pick<DomainContext, "history" | "served" | "log" | "visibilityOf">): DomainServices {
  const domains = [...served.values()];
  const sources = createHistorySources(history, {
    inventory: domains.flatMap(({ inventory }) => inventory ?? []),
    figures: domains.flatMap(({ figures }) => figures ?? []),
  });
  return {
    registrations: [createHistoryService(history, sources, visibilityOf)],
    planners: [],
    access: [registerAccess(HistoryService, { getHistory: "own", listSubjects: "own" })],
    backends: [],
    beginSchedules: () =>
      beginSampling({
        history,
        sources,
        onFailed: (error) => log.warn("figures could not be sampled for the history", error),
      }),
  };
}
