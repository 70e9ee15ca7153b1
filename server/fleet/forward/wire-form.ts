import type { DescMethod } from "@bufbuild/protobuf";
import type { Call } from "../../rpc/call/call.ts";
import type { MethodRule } from "../../rpc/call/method-rule.ts";
import type { HttpRequest } from "../../rpc/protocols/http/http-exchange.ts";
import { acceptsEventStream } from "../../rpc/protocols/sse/accepts-event-stream.ts";
import { eventStreamMethodOf } from "../../rpc/protocols/sse/event-stream-methods.ts";

/** How the body of an answer is divided and ends. `plain` is one message of unary Connect, or of REST. */
export type AnswerForm = "grpc" | "grpc-web" | "grpc-web-text" | "connect-stream" | "plain" | "sse";

/** The protocol of a request. */
export interface WireForm {
  readonly protocol: Call["protocol"];
  readonly form: AnswerForm;
}

/** Why no protocol carries a request: the HTTP status, and the verbs that would do. */
export interface Unservable {
  readonly status: 405 | 406 | 415 | 505;
  readonly allow?: string;
}

const grpcForms: readonly (readonly [type: RegExp, wire: WireForm])[] = [
  [/^application\/grpc-web-text(?:$|[+; ])/i, { protocol: "grpc-web", form: "grpc-web-text" }],
  [/^application\/grpc-web(?:$|[+; ])/i, { protocol: "grpc-web", form: "grpc-web" }],
  [/^application\/grpc(?:$|[+; ])/i, { protocol: "grpc", form: "grpc" }],
];

const connectUnary: WireForm = { protocol: "connect", form: "plain" };
const eventStream: WireForm = { protocol: "sse", form: "sse" };

const unaryForms = [...grpcForms, [/^application\/(?:json|proto)(?:$|[; ])/i, connectUnary]] as const;
const streamForms = [
  ...grpcForms,
  [/^application\/connect\+(?:json|proto)(?:$|[; ])/i, { protocol: "connect", form: "connect-stream" }],
] as const;

/**
 * Returns the protocol of a request at the path of a method.
 * @param isInContract false for a method that may be of any kind
 */
export function wireFormOf(
  method: DescMethod,
  rule: MethodRule,
  request: HttpRequest,
  isInContract: boolean,
): WireForm | Unservable {
  const { headers, httpVersion } = request;
  const verb = request.method ?? "";
  const events = eventStreamMethodOf(method, rule);
  const getVerbs = events?.byGet === true ? ["GET"] : rule.get ? ["GET", "HEAD"] : [];
  if (verb !== "POST" && !getVerbs.includes(verb)) {
    return { status: 405, allow: [...getVerbs.filter((name) => name !== "HEAD"), "POST"].join(", ") };
  }
  if (events !== undefined && acceptsEventStream(verb, headers)) {
    return eventStream;
  }
  if (verb !== "POST") {
    return rule.get ? connectUnary : { status: 406 };
  }
  const forms = !isInContract
    ? [...unaryForms, ...streamForms]
    : method.methodKind === "unary"
      ? unaryForms
      : streamForms;
  const wire = forms.find(([type]) => type.test(headers["content-type"] ?? ""))?.[1];
  if (wire === undefined) {
    return { status: 415 };
  }
  const needsHttp2 = wire.form === "grpc" || (isInContract && method.methodKind === "bidi_streaming");
  return needsHttp2 && httpVersion !== "2.0" ? { status: 505 } : wire;
}

const json = /^application\/json(?:; ?charset=utf-8)?$/i;

/** Content types of an answer, by its form. */
const answerTypes: Readonly<Record<AnswerForm, RegExp>> = {
  grpc: /^application\/grpc(?:\+(?:proto|json))?$/i,
  "grpc-web": /^application\/grpc-web(?:\+(?:proto|json))?$/i,
  "grpc-web-text": /^application\/grpc-web-text(?:\+proto)?$/i,
  "connect-stream": /^application\/connect\+(?:proto|json)$/i,
  plain: /^application\/(?:proto|x-ndjson|json(?:; ?charset=utf-8)?)$/i,
  sse: /^text\/event-stream(?:; ?charset=utf-8)?$/i,
};

/** Statuses of answers without a body: to an `if-none-match`, and to a browser that reconnects to a stream that has ended. */
const emptyStatuses: readonly number[] = [204, 304];

/** Returns the form of a body. An event stream that fails before its first event is answered with plain JSON. */
export function bodyFormOf(form: AnswerForm, contentType: string | undefined): AnswerForm {
  return form === "sse" && !answerTypes.sse.test(contentType ?? "") ? "plain" : form;
}

/** Reports whether a status and a content type can be those of an answer in a form. */
export function isAnswerOf(form: AnswerForm, status: number, contentType: string | undefined): boolean {
  if (contentType === undefined) {
    return (form === "plain" || form === "sse") && emptyStatuses.includes(status);
  }
  const isError = status >= 400 && status <= 599;
  return isError
    ? (form === "plain" || form === "sse") && json.test(contentType)
    : (status === 200 || (form === "plain" && status === 304)) && answerTypes[form].test(contentType);
}
