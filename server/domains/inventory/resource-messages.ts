import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HostInventorySchema, ResourceSchema } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { healthMessages } from "../../domain/health-messages.ts";
import type { HostInventory } from "./hosts/host-inventory.ts";
import type { InventoryRow } from "./read-inventory.ts";

/** Converts a row of any domain to its message, without a time if the domain does not know when it was read. */
export function resourceMessage({
  resource: { name, type, title, state, health, figures, labels, properties = {}, reason = "" },
  domain,
  host,
  readAtMs,
}: InventoryRow): MessageInitShape<typeof ResourceSchema> {
  return {
    name,
    type,
    domain,
    host,
    title,
    state,
    health: healthMessages[health],
    figures: figures.map(({ name, value, unit }) => ({ name, value, unit })),
    labels,
    properties,
    reason,
    ...(readAtMs === undefined ? {} : { readTime: timestampFromMs(readAtMs) }),
  };
}

/** Converts what is known of a host's inventory. Reason and message are empty while it is read without an error. */
export function hostInventoryMessage({
  host,
  isConnected,
  readAtMs,
  error,
}: HostInventory): MessageInitShape<typeof HostInventorySchema> {
  return {
    host,
    connected: isConnected,
    reason: error?.reason ?? "",
    message: error?.message ?? "",
    ...(readAtMs === undefined ? {} : { readTime: timestampFromMs(readAtMs) }),
  };
}
