import { validateHeaderValue } from "node:http";
import { constants } from "node:http2";
import type { ConnectError } from "@connectrpc/connect";
import type { InfraError } from "../../../adapters/host/infra-error.ts";
import { chargeLoopTime } from "../../rpc/call/loop-time.ts";
import type { RoutedCall } from "../../rpc/call/routed-call.ts";
import {
  type AnswerHeaders,
  endResponse,
  type HttpRequest,
  type HttpResponse,
} from "../../rpc/protocols/http/http-exchange.ts";
import { answerHeadersFrom, answerTrailersFrom, badAnswer, type HostHead, sizeOf } from "./answer-headers.ts";
import { createAnswerTracker } from "./create-answer-tracker.ts";
import type { HostStream } from "./host-stream.ts";
import { endWithError } from "./refuse-forwarded.ts";
import { errorOfEnd, errorOfHead, errorOfTrailers } from "./reported-outcome.ts";
import { bodyFormOf, type WireForm } from "./wire-form.ts";

export interface PassOptions {
  readonly call: RoutedCall;
  readonly wire: WireForm;
  readonly host: string;
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** Headers that this hub gives every answer. */
  readonly headers: AnswerHeaders;
}

/** An answer of a host on its way to the client. */
export interface HostAnswer {
  /**
   * Passes the answer, at the pace of its client, and ends it. Resolves with the error that the host has reported at its end.
   * @throws InfraError BAD_HOST_ANSWER, HOST_UNREACHABLE; the error that ended the call
   */
  pass(): Promise<InfraError | undefined>;
  /** Ends an answer that was passed in part. */
  endWithError(error: ConnectError): void;
}

/** @param head of the answer, which has arrived @param hostStream the rest of it */
export function createHostAnswer(
  hostStream: HostStream,
  head: HostHead,
  { call, wire, host, request, response, headers }: PassOptions,
): HostAnswer {
  const { stream } = hostStream;
  const form = bodyFormOf(wire.form, head.headers["content-type"]);
  const isGrpc = form.startsWith("grpc");
  const hasStatus = isGrpc && head.headers["grpc-status"] !== undefined;
  const hasBody = !head.isAll && request.method !== "HEAD";
  const sizeBytes = sizeOf(head.headers);
  const tracker = createAnswerTracker(form, sizeBytes);

  function writeHead(): void {
    const answer = answerHeadersFrom(head, wire, host, headers);
    assertWritable(answer, host);
    if (hasBody) {
      response.writeHead(head.status, answer);
      return;
    }
    // Not writeHead: over HTTP/2 it would end the stream with an empty DATA frame, see http/refusal.ts.
    for (const [name, value] of Object.entries(answer)) {
      response.setHeader(name, value);
    }
    response.statusCode = head.status;
  }

  /** Whether all of the answer has arrived. */
  function isWhole(): boolean {
    if (hasStatus || form === "grpc") {
      return tracker.isAtBoundary() && (hasStatus || answerTrailersFrom(hostStream.trailers()) !== undefined);
    }
    const isPlainEnd = form === "plain" && sizeBytes === undefined;
    return isPlainEnd ? stream.rstCode === constants.NGHTTP2_NO_ERROR : tracker.isWhole();
  }

  function end(): void {
    const ending = answerTrailersFrom(hostStream.trailers());
    if (form === "grpc" && ending !== undefined) {
      response.addTrailers(ending);
    }
    endResponse(request, response);
  }

  async function reportedError(): Promise<InfraError | undefined> {
    if (form === "plain") {
      return errorOfHead(head, wire);
    }
    const envelope = tracker.end();
    if (envelope !== undefined) {
      return await errorOfEnd(form, envelope, head.headers);
    }
    return isGrpc ? errorOfTrailers(hasStatus ? head.headers : (hostStream.trailers() ?? {})) : undefined;
  }

  /** Passes the body. Resolves when all of it has arrived and is handed over. */
  function passBody(): Promise<void> {
    const target = response.stream ?? response;
    let openWrites = 0;
    const onWritten = () => {
      openWrites -= 1;
      request.usage?.onSent();
      if (openWrites === 0) {
        stream.resume();
      }
    };
    return new Promise((resolve, reject) => {
      const onData = (chunk: Buffer) => {
        chargeLoopTime(call);
        tracker.push(chunk);
        openWrites += 1;
        if (!target.write(chunk, onWritten)) {
          stream.pause();
        }
        request.usage?.onWritten();
      };
      const fail = (error: InfraError) => {
        stream.off("data", onData);
        reject(error);
      };
      const stopListening = call.onEnd(fail);
      stream.on("data", onData);
      const settle = () => {
        if (hostStream.hasEnded() && isWhole()) {
          stopListening();
          resolve();
        } else if (hostStream.isClosed()) {
          stopListening();
          fail(hostStream.broken());
        }
      };
      hostStream.onChange(settle);
      settle();
    });
  }

  return {
    endWithError: (error) => endWithError(form, request, response, error, tracker.isAtBoundary()),
    async pass() {
      if (form === "grpc" && head.isAll && !hasStatus) {
        throw badAnswer(host, "it ends without a status");
      }
      writeHead();
      if (hasBody) {
        await passBody();
      } else {
        stream.resume();
      }
      end();
      return await reportedError();
    },
  };
}

/** HTTP/2 allows bytes in a value that HTTP/1.1 does not. @throws InfraError BAD_HOST_ANSWER */
function assertWritable(headers: AnswerHeaders, host: string): void {
  for (const [name, value] of Object.entries(headers)) {
    try {
      validateHeaderValue(name, String(value));
    } catch {
      throw badAnswer(host, `the header ${name} has characters that no header may have`);
    }
  }
}
