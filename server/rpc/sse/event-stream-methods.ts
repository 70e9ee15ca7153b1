import type { DescMethod } from "@bufbuild/protobuf";
import type { MethodRule } from "../method-rule.ts";
import { cursorFieldOf } from "./cursor-field.ts";

/** A method whose messages can be had as server-sent events, by POST. */
export interface EventStreamMethod {
  readonly method: DescMethod;
  /** Also by GET, as a browser's EventSource asks. */
  readonly byGet: boolean;
  /** Goes on behind the event that `Last-Event-ID` names; any other begins anew, with the whole state. */
  readonly resumes: boolean;
}

/**
 * How a method is offered as an event stream; undefined when it is not, as it answers with one message or takes many. GET
 * is for what changes nothing and tells no secret.
 */
export function eventStreamMethodOf(
  method: DescMethod,
  { mutation, secrets }: Pick<MethodRule, "mutation" | "secrets">,
): EventStreamMethod | undefined {
  return method.methodKind === "server_streaming"
    ? { method, byGet: !mutation && !secrets, resumes: cursorFieldOf(method.input) !== undefined }
    : undefined;
}

/** Every one of some methods that is offered as an event stream, in their order. */
export function eventStreamMethods(
  methods: readonly DescMethod[],
  ruleOf: (method: DescMethod) => Pick<MethodRule, "mutation" | "secrets">,
): readonly EventStreamMethod[] {
  return methods.flatMap((method) => eventStreamMethodOf(method, ruleOf(method)) ?? []);
}
