import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from "node:http2";
import type { InfraError } from "../../../adapters/host/infra-error.ts";
import type { HostHead } from "./answer-headers.ts";

/** The stream of a request to a host, and what has been heard of its answer. */
export interface HostStream {
  readonly stream: ClientHttp2Stream;
  /** Rejects with the error of a broken connection. */
  readonly head: Promise<HostHead>;
  trailers(): IncomingHttpHeaders | undefined;
  /** Whether all of the body has been read. */
  hasEnded(): boolean;
  isClosed(): boolean;
  /** Creates the error for an answer that ended before it was complete. */
  broken(): InfraError;
  /** Sets the function that is called when trailers arrive, the body ends or the stream is closed. */
  onChange(listener: () => void): void;
}

/**
 * Listens from the beginning: a short answer may end before anything of it is passed.
 * @param broken as HostStream; gets whether the answer had begun
 */
export function watchHostStream(
  stream: ClientHttp2Stream,
  broken: (hasHead: boolean) => InfraError,
): HostStream {
  let trailers: IncomingHttpHeaders | undefined;
  let hasHead = false;
  let hasEnded = false;
  let isClosed = false;
  let notify = () => {};
  // `close` reports the end as well.
  stream.on("error", () => {});
  stream.once("trailers", (received) => {
    trailers = received;
    notify();
  });
  stream.once("end", () => {
    hasEnded = true;
    notify();
  });
  const head = new Promise<HostHead>((resolve, reject) => {
    stream.once("response", (headers, flags) => {
      const isAll = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      hasHead = true;
      resolve({ status: headers[":status"] ?? 0, headers, isAll });
    });
    stream.once("close", () => {
      isClosed = true;
      // An error with its stack trace is a tenth of a call's work.
      if (!hasHead) {
        reject(broken(false));
      }
      notify();
    });
  });
  // The call may end before anything waits for the head.
  head.catch(() => {});
  return {
    stream,
    head,
    trailers: () => trailers,
    hasEnded: () => hasEnded,
    isClosed: () => isClosed,
    broken: () => broken(hasHead),
    onChange(listener) {
      notify = listener;
    },
  };
}
