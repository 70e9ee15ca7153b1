import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { DomainProblemSchema, ResourceSchema } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { healthMessages } from "../../domain/health-messages.ts";
import type { InventoryProblem, InventoryRow } from "./read-inventory.ts";

export function resourceMessage({
  resource: { name, type, title, state, health, figures, labels, properties = {}, reason = "" },
  domain,
  readAtMs,
}: InventoryRow): MessageInitShape<typeof ResourceSchema> {
  return {
    name,
    type,
    domain,
    title,
    state,
    health: healthMessages[health],
    figures: figures.map(({ name, value, unit }) => ({ name, value, unit })),
    labels,
    properties,
    reason,
    ...(readAtMs === undefined
      ? {}
      : { readTime: timestampFromMs(Math.round(Date.now() - (performance.now() - readAtMs))) }),
  };
}

export function problemMessage({
  domain,
  error,
}: InventoryProblem): MessageInitShape<typeof DomainProblemSchema> {
  return { domain, reason: error.reason, message: error.message };
}
