/** An event of a stream, as in the HTML standard (9.2.5, Parsing an event stream). */
export interface StreamEvent {
  /** The value that a browser sends as `Last-Event-ID` when it reconnects. */
  readonly id?: string | undefined;
  /** Undefined for a message of the stream. */
  readonly type?: "end" | "error";
  readonly data: string;
}

/** Line endings of the format. */
const lineEnd = /\r\n|\r|\n/;

/**
 * Encodes an event. Any id and data give exactly one event: data of several lines is written as several, and is read back with
 * `\n` between them. An id that the format cannot represent is left out, so that the previous one stays valid.
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

/** A comment, which readers skip. It only shows proxies, and TCP, that the stream is alive. */
export const heartbeatFrame: Buffer = Buffer.from(":\n\n");

/** Sets how long a browser waits before it reconnects to a stream that was cut. */
export function retryFrame(retryMs: number): Buffer {
  return Buffer.from(`retry: ${retryMs}\n\n`);
}
