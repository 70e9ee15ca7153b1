import { ResourceHealth as HealthMessage } from "../../gen/hostplane/v1/inventory_pb.ts";
import type { ResourceHealth } from "./inventory-source.ts";

/** The health of a resource as messages have it. */
export const healthMessages: Readonly<Record<ResourceHealth, HealthMessage>> = {
  unknown: HealthMessage.UNSPECIFIED,
  ok: HealthMessage.OK,
  degraded: HealthMessage.DEGRADED,
  failed: HealthMessage.FAILED,
};
