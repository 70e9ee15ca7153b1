import type { ResultOf, Store } from "../../store/store.ts";
import type { EventQuery } from "./event-query.ts";

/** A row of the audit log. */
export type EventRow = ResultOf<"audit.list">["rows"][number];

/** A page of the audit log, newest first. */
export interface EventPage {
  readonly rows: readonly EventRow[];
  /** The next page is below this number; undefined on the last page. */
  readonly nextSeq: number | undefined;
}

/** Rows that one transaction scans: a few milliseconds, in which no other transaction runs. */
const scannedRows = 5_000;

/** A page is cut short before it comes near the default `limits.maxMessageBytes`. */
const pageMaxBytes = 1 << 20;

/**
 * Reads a page. Rows that are written meanwhile do not appear on later pages.
 * @throws InfraError the signal's reason, STORE_UNAVAILABLE
 */
export async function readEvents(
  store: Pick<Store, "run">,
  { filters, pageSize, belowSeq }: EventQuery,
  signal: AbortSignal,
): Promise<EventPage> {
  const found: EventRow[] = [];
  let below: number | undefined = belowSeq;
  // One row more than the page holds shows whether there is another page.
  while (below !== undefined && found.length <= pageSize) {
    signal.throwIfAborted();
    const limit = pageSize + 1 - found.length;
    const next: ResultOf<"audit.list"> = await store.run("audit.list", {
      filters,
      belowSeq: below,
      limit,
      scanned: scannedRows,
    });
    found.push(...next.rows);
    below = next.nextSeq;
  }
  const rows = found.slice(0, pageSize);
  let bytes = 0;
  const fitting = rows.findIndex((row, index) => {
    bytes += sizeOf(row);
    return bytes > pageMaxBytes && index > 0;
  });
  const page = fitting === -1 ? rows : rows.slice(0, fitting);
  return { rows: page, nextSeq: page.length < found.length ? page.at(-1)?.seq : undefined };
}

function sizeOf({ request_json, resource }: EventRow): number {
  return 512 + Buffer.byteLength(request_json ?? "") + Buffer.byteLength(resource ?? "");
}
