import { toBinary } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import {
  ResourceHealth as HealthMessage,
  type Resource as ResourceMessage,
  ResourceSchema,
} from "../../../../gen/hostplane/v1/inventory_pb.ts";
import type { Figure, ResourceHealth } from "../../../domain/inventory-source.ts";
import type { InventoryRow } from "../read-inventory.ts";
import { inventoryReasons } from "../reasons.ts";

/** Numbers of rows and of their bytes, encoded as protobuf. */
export interface RowsSize {
  readonly rows: number;
  readonly bytes: number;
}

/** The most that a hub keeps of one host, and of all hosts. */
const hostRowsMax: RowsSize = { rows: 5_000, bytes: 4 << 20 };
export const allRowsMax: RowsSize = { rows: 100_000, bytes: 64 << 20 };

/** Largest row, in bytes: a message with several of them must stay below the limit of every client. */
const rowMaxBytes = 64 << 10;

/** Longest text by which rows are sorted, in characters: page tokens contain it. */
const sortKeyMaxLength = 1024;

/** Returns HOST_INVENTORY_TOO_LARGE. */
export function incompleteRows(host: string): InfraError {
  const ofHost = `${hostRowsMax.rows} and ${hostRowsMax.bytes >> 20} MiB of a host`;
  const ofAll = `${allRowsMax.rows} and ${allRowsMax.bytes >> 20} MiB of all hosts`;
  const message = `host ${host} has more or larger resources than a hub keeps (${ofHost}, ${ofAll}, ${rowMaxBytes >> 10} KiB each), so some are missing`;
  return new InfraError(inventoryReasons.HOST_INVENTORY_TOO_LARGE, message);
}

/** Counts the rows of all hosts. */
export interface RowsBudget {
  /** Counts a row. Returns false, without counting it, if there would be too many. */
  take(bytes: number): boolean;
  give(size: RowsSize): void;
}

/** @param max of rows and of their bytes as protobuf */
export function createRowsBudget(max: RowsSize): RowsBudget {
  let rows = 0;
  let used = 0;
  return {
    take(bytes) {
      if (rows + 1 > max.rows || used + bytes > max.bytes) {
        return false;
      }
      rows += 1;
      used += bytes;
      return true;
    },
    give(size) {
      rows -= size.rows;
      used -= size.bytes;
    },
  };
}

/** The rows that a host has reported, by name. */
export interface HostRows {
  /** Applies a change. Rows that exceed a limit are left out. */
  apply(changed: readonly ResourceMessage[], removed: readonly string[]): void;
  rows(): readonly InventoryRow[];
  /** Whether rows were left out. */
  isIncomplete(): boolean;
  /** Gives back what the rows take of the budget. */
  release(): void;
}

/** @param host its name, from its certificate: what the host reports is not believed */
export function createHostRows(host: string, budget: RowsBudget, max: RowsSize = hostRowsMax): HostRows {
  const byName = new Map<string, { readonly row: InventoryRow; readonly bytes: number }>();
  const own = createRowsBudget(max);
  let isIncomplete = false;

  function remove(name: string): void {
    const known = byName.get(name);
    if (known !== undefined) {
      byName.delete(name);
      own.give({ rows: 1, bytes: known.bytes });
      budget.give({ rows: 1, bytes: known.bytes });
    }
  }

  function put(message: ResourceMessage): void {
    remove(message.name);
    const bytes = toBinary(ResourceSchema, message).byteLength;
    if (bytes > rowMaxBytes || hasLongSortKey(message) || !own.take(bytes)) {
      isIncomplete = true;
      return;
    }
    if (!budget.take(bytes)) {
      own.give({ rows: 1, bytes });
      isIncomplete = true;
      return;
    }
    byName.set(message.name, { row: rowFromMessage(message, host), bytes });
  }

  return {
    apply(changed, removed) {
      for (const name of removed) {
        remove(name);
      }
      for (const message of changed) {
        put(message);
      }
    },
    rows: () => [...byName.values()].map(({ row }) => row),
    isIncomplete: () => isIncomplete,
    release() {
      for (const { bytes } of byName.values()) {
        budget.give({ rows: 1, bytes });
      }
      byName.clear();
    },
  };
}

function hasLongSortKey({ name, title, type, state }: ResourceMessage): boolean {
  return [name, title, type, state].some((text) => text.length > sortKeyMaxLength);
}

const healthFromMessage: Readonly<Record<HealthMessage, ResourceHealth>> = {
  [HealthMessage.UNSPECIFIED]: "unknown",
  [HealthMessage.OK]: "ok",
  [HealthMessage.DEGRADED]: "degraded",
  [HealthMessage.FAILED]: "failed",
};

function rowFromMessage(message: ResourceMessage, host: string): InventoryRow {
  const { name, type, domain, title, state, health, figures, labels, properties, reason, readTime } = message;
  return {
    host,
    domain,
    readAtMs: readTime && timestampMs(readTime),
    resource: {
      name,
      type,
      title,
      state,
      health: healthFromMessage[health] ?? "unknown",
      figures: figures.map(({ name, value, unit }) => ({ name, value, unit: unit as Figure["unit"] })),
      labels,
      properties,
      reason,
    },
  };
}
