import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Exchange } from "../../call/exchange.ts";
import type { RequestFacts } from "../../call/request-facts.ts";
import type { Route } from "../../call/router.ts";
import type { Codec } from "../../streams/shared-message.ts";
import type { AnswerHeaders, HttpRequest } from "../http/http-exchange.ts";
import { readBody } from "../http/read-body.ts";
import { encodeUnknownFields, unknownFieldsHeader } from "../wire/unknown-fields-header.ts";
import type { ReadMessage } from "./read-message.ts";
import type { RequestHead } from "./request.ts";

/**
 * A Node request, and the response head in the form that Node takes. A class, because one is created for every call: its methods
 * exist only once.
 */
export class DirectExchange implements Exchange {
  readonly method: DescMethod;
  readonly protocol: RequestHead["form"]["protocol"];
  readonly codec: Codec;
  readonly facts: RequestFacts;
  readonly head: RequestHead;
  readonly request: HttpRequest;
  /** Headers of the answer; initially those that do not depend on the call. */
  readonly answerHeaders: AnswerHeaders;
  trailers: Headers | undefined;
  readonly #readMaxBytes: number;
  readonly #readMessage: ReadMessage;
  readonly #deadlineAtMs: number | undefined;

  constructor(
    { method, readMaxBytes }: Pick<Route, "method" | "readMaxBytes">,
    head: RequestHead,
    request: HttpRequest,
    facts: RequestFacts,
    answerHeaders: AnswerHeaders,
    readMessage: ReadMessage,
  ) {
    const { form, timeoutMs } = head;
    this.method = method;
    this.protocol = form.protocol;
    this.codec = form.isBinary ? "binary" : "json";
    this.facts = facts;
    this.head = head;
    this.request = request;
    this.answerHeaders = answerHeaders;
    this.#readMaxBytes = readMaxBytes;
    this.#readMessage = readMessage;
    this.#deadlineAtMs = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return typeof value === "object" ? value.join(", ") : value;
  }

  headerNames(): Iterable<string> {
    return Object.keys(this.request.headers);
  }

  setHeader(name: string, value: string): void {
    this.answerHeaders[name.toLowerCase()] = value;
  }

  appendHeader(name: string, value: string): void {
    const key = name.toLowerCase();
    const before = this.answerHeaders[key];
    if (key === "set-cookie") {
      // The only header that may have several lines (RFC 6265, 3).
      this.answerHeaders[key] = [...(Array.isArray(before) ? before : []), value];
    } else {
      this.answerHeaders[key] = before === undefined ? value : `${before}, ${value}`;
    }
  }

  appendTrailer(name: string, value: string): void {
    this.trailers ??= new Headers();
    this.trailers.append(name, value);
  }

  timeLeftMs(): number | undefined {
    return this.#deadlineAtMs === undefined ? undefined : this.#deadlineAtMs - performance.now();
  }

  async readInput(): Promise<Message> {
    const { head, request } = this;
    const form = head.form.isEnveloped ? "enveloped" : "plain";
    const body = await readBody(request, this.#readMaxBytes, form);
    return this.#readMessage(body, head, (names) => {
      if (names.length > 0) {
        this.answerHeaders[unknownFieldsHeader] = encodeUnknownFields(names);
      }
    });
  }
}
