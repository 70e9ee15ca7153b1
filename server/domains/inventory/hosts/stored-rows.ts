import { create, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { type Resource, ResourceSchema } from "../../../../gen/hostplane/v1/inventory_pb.ts";
import type { Store } from "../../../store/store.ts";
import type { InventoryRow } from "../read-inventory.ts";
import { resourceMessage } from "../resource-messages.ts";

/** The most that is stored of a host, in bytes of JSON: some 1,500 resources. Further ones are left out. */
const storedMaxBytes = 512 << 10;

/** Rows of a host, as a hub last knew them. */
export interface StoredRows {
  /** Until when they were known to be the host's, in milliseconds since the epoch. */
  readonly atMs: number;
  readonly resources: readonly Resource[];
}

/** Reads the stored rows of a host; undefined if there are none. @throws InfraError STORE_UNAVAILABLE */
export async function readStoredRows(
  store: Pick<Store, "run">,
  hostId: string,
): Promise<StoredRows | undefined> {
  const stored = await store.run("fleet.inventory", { hostId });
  return (
    stored && {
      atMs: stored.atMs,
      // A hub of another version may have stored fields that this one does not know.
      resources: stored.resources.map((json) =>
        fromJson(ResourceSchema, json as JsonValue, { ignoreUnknownFields: true }),
      ),
    }
  );
}

/** Stores the rows of a host in place of earlier ones. @throws InfraError STORE_UNAVAILABLE */
export async function storeRows(
  store: Pick<Store, "run">,
  hostId: string,
  atMs: number,
  rows: readonly InventoryRow[],
): Promise<void> {
  const resources: JsonValue[] = [];
  let bytes = 0;
  for (const row of rows) {
    const json = toJson(ResourceSchema, create(ResourceSchema, resourceMessage(row)));
    bytes += Buffer.byteLength(JSON.stringify(json));
    if (bytes > storedMaxBytes) {
      break;
    }
    resources.push(json);
  }
  await store.run("fleet.setInventory", { hostId, inventory: { atMs, resources } });
}
