import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  ResourceHealth as HealthMessage,
  type HostInventorySchema,
  type ResourceSchema,
} from "../../../gen/hostplane/v1/inventory_pb.ts";
import type { ResourceHealth } from "../../domain/inventory-source.ts";
import type { HostInventory } from "./hosts/host-inventories.ts";
import type { InventoryRow } from "./read-inventory.ts";

const healthMessage: Readonly<Record<ResourceHealth, HealthMessage>> = {
  unknown: HealthMessage.UNSPECIFIED,
  ok: HealthMessage.OK,
  degraded: HealthMessage.DEGRADED,
  failed: HealthMessage.FAILED,
};

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
    health: healthMessage[health],
    figures: figures.map(({ name, value, unit }) => ({ name, value, unit })),
    labels,
    properties,
    reason,
    ...(readAtMs === undefined ? {} : { readTime: timestampFromMs(readAtMs) }),
  };
}

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
