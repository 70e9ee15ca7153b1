import type { DescMethod } from "@bufbuild/protobuf";
import type { Exchange } from "../../rpc/call/exchange.ts";
import type { RequestFacts } from "../../rpc/call/request-facts.ts";
import type { AnswerHeaders, HttpRequest } from "../../rpc/protocols/http/http-exchange.ts";
import type { ClientDeadline } from "./request-headers.ts";
import type { WireForm } from "./wire-form.ts";

/**
 * Creates the exchange of a call that is forwarded. Its message is not read here.
 * @param answerHeaders receives the headers that the call sets
 */
export function createForwardedExchange(
  method: DescMethod,
  { protocol }: WireForm,
  request: HttpRequest,
  facts: RequestFacts,
  deadline: ClientDeadline | undefined,
  answerHeaders: AnswerHeaders,
): Exchange {
  const deadlineAtMs = deadline === undefined ? undefined : performance.now() + deadline.timeoutMs;
  const setHeader = (name: string, value: string) => {
    answerHeaders[name.toLowerCase()] = value;
  };
  return {
    method,
    protocol,
    codec: "binary",
    facts,
    header: (name) => request.headers[name]?.toString(),
    headerNames: () => Object.keys(request.headers),
    setHeader,
    appendHeader: setHeader,
    appendTrailer: () => {},
    timeLeftMs: () => (deadlineAtMs === undefined ? undefined : deadlineAtMs - performance.now()),
    readInput: () => Promise.reject(new TypeError("a hub does not read the messages that it forwards")),
  };
}
