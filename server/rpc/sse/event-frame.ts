/** An event of a stream, as the HTML standard has it (9.2.5, Parsing an event stream). */
export interface StreamEvent {
  /** What a browser sends as `Last-Event-ID` when it comes back. */
  readonly id?: string | undefined;
  /** Undefined for a message of the stream. */
  readonly type?: "end" | "error";
  readonly data: string;
}

/** What ends a line there. */
const lineEnd = /\r\n|\r|\n/;

/**
 * An event on the wire. Whatever id and data hold, it is one event: data of many lines is written as such, and comes back
 * with `\n` between them. An id that the format cannot hold is left out, so that the one before stays.
 */
export function eventFrame({ id, type, data }: StreamEvent): Buffer {
  const hasId = id !== undefined && !/[\0\r\n]/.test(id);
  const lines = [
    ...(hasId ? [`id: ${id}`] : []),
    ...(type === undefined ? [] : [`event: ${type}`]),
    ...data.split(lineEnd).map((line) => `data: ${line}`),
  ];
  return Buffer.from(`${lines.join("\n")}\n\n`);
}

/** A comment, which readers skip: it only shows proxies, and TCP, that the stream lives. */
export const heartbeatFrame: Buffer = Buffer.from(":\n\n");

/** Asks a browser to wait so long before it comes back to a stream that was cut. */
export function retryFrame(retryMs: number): Buffer {
  return Buffer.from(`retry: ${retryMs}\n\n`);
}
