import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";

/** Rows, and where the next ones begin; `nextSeq` is undefined after the last row. */
export interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly nextSeq: number | undefined;
}

/** Reading this many rows takes a few milliseconds, in which no other transaction runs. */
export const rowsAtOnce = 50;

/** A page is cut short before it comes near the default `limits.maxMessageBytes`. */
export const pageMaxBytes = 1 << 20;

/**
 * Reads a page of messages, a few rows at a time.
 * @param read reads up to `limit` rows, from where the previous ones ended
 * @throws InfraError the signal's reason, and the errors of `read`
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
