import type { ConnectError } from "@connectrpc/connect";
import { chargeLoopTime } from "../../call/loop-time.ts";
import type { RoutedCall } from "../../call/routed-call.ts";
import { createBackpressure } from "../http/backpressure.ts";
import { type HttpResponse, isGone } from "../http/http-exchange.ts";
import { connectStreamEnd } from "../wire/connect-end.ts";
import { grpcTrailers, grpcWebEnd } from "../wire/grpc-end.ts";
import type { EncodeMessage } from "./encode-message.ts";
import type { DirectExchange } from "./exchange.ts";
import { endAnswer, writeHead } from "./response.ts";

/** Writes the messages of a server stream at the pace of its client, and its end. Closes the source when the client leaves. */
export async function writeStream(
  exchange: DirectExchange,
  call: RoutedCall,
  response: HttpResponse,
  output: AsyncIterable<object>,
  encodeMessage: EncodeMessage,
): Promise<void> {
  const messages = output[Symbol.asyncIterator]();
  const { usage } = exchange.request;
  const backpressure = createBackpressure(response, () => usage?.onSent());
  try {
    for (;;) {
      // Each message of a repeatable stream is the whole state. Requests the next one only when the previous one has left, so
      // that a slow watcher gets the newest state next.
      if (call.rule.repeatable && !(await backpressure.flushed())) {
        return;
      }
      const next = await messages.next();
      const room = isGone(response) ? false : backpressure.canWrite();
      if (room !== true && !(await room)) {
        return;
      }
      if (!response.headersSent) {
        writeHead(exchange, response);
      }
      if (next.done === true) {
        writeEnd(exchange, response, undefined);
        return;
      }
      chargeLoopTime(call);
      const encoded = encodeMessage(next.value, exchange.head, call);
      const { body } = encoded instanceof Promise ? await encoded : encoded;
      backpressure.write(body);
    }
  } finally {
    await messages.return?.();
  }
}

/** Writes what follows the last message of an answer whose messages have envelopes. */
export function writeEnd(
  exchange: DirectExchange,
  response: HttpResponse,
  error: ConnectError | undefined,
): void {
  const { protocol, trailers } = exchange;
  if (protocol === "grpc") {
    response.addTrailers(grpcTrailers(trailers, error));
    endAnswer(exchange, response, undefined);
  } else {
    const last = protocol === "connect" ? connectStreamEnd(trailers, error) : grpcWebEnd(trailers, error);
    endAnswer(exchange, response, last);
  }
}
