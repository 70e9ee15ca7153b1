import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";

/** Rows and where to go on; `nextSeq` is undefined behind the last row. */
export interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly nextSeq: number | undefined;
}

/** One read of rows takes few milliseconds, in which nothing else is read or written. */
const rowsAtOnce = 50;

/** A page ends short of its size before it comes near the default `limits.maxMessageBytes`. */
const pageMaxBytes = 1 << 20;

/**
 * Reads a page of messages, a few rows at a time.
 * @param read reads `limit` rows at most, from where the rows before have ended
 * @throws InfraError the signal's reason, and what `read` throws
 */
export async function readPage<Row, Schema extends DescMessage>(
  schema: Schema,
  page: { readonly seq: number | undefined; readonly pageSize: number; readonly signal: AbortSignal },
  read: (seq: number | undefined, limit: number) => Promise<Rows<Row>>,
  messageOf: (row: Row) => MessageInitShape<Schema>,
): Promise<Rows<MessageShape<Schema>>> {
  const messages: MessageShape<Schema>[] = [];
  let bytes = 0;
  let next = page.seq;
  do {
    page.signal.throwIfAborted();
    const { rows, nextSeq } = await read(next, Math.min(page.pageSize - messages.length, rowsAtOnce));
    for (const row of rows) {
      const message = create(schema, messageOf(row));
      bytes += toBinary(schema, message).length;
      messages.push(message);
    }
    next = nextSeq;
  } while (next !== undefined && messages.length < page.pageSize && bytes < pageMaxBytes);
  return { rows: messages, nextSeq: next };
}
