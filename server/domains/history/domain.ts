import { HistoryService } from "../../../gen/hostplane/v1/history_pb.ts";
import { defineGatewayDomain } from "../../domain/define-domain.ts";

/** Figures of the last 24 hours. It is created after all domains whose figures it samples. */
export const historyDomain = defineGatewayDomain({
  name: "history",
  services: [
    {
      service: HistoryService,
      // Callers see the history of what they see in the inventory.
      rules: {
        GetHistory: { ofEveryService: true, get: false, cache: false },
        ListSubjects: { ofEveryService: true, get: false, cache: false },
      },
    },
  ],
  async serve(context) {
    const { serveHistory } = await import("./serve.ts");
    return serveHistory(context);
  },
});
