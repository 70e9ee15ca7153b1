import type { DescMethod } from "@bufbuild/protobuf";
import type { MethodRule } from "../../call/method-rule.ts";
import { cursorFieldOf } from "./cursor-field.ts";

/** A method whose messages are available as server-sent events, by POST. */
export interface EventStreamMethod {
  readonly method: DescMethod;
  /** Also by GET, which a browser's EventSource uses. */
  readonly byGet: boolean;
  /** Whether it continues after the event in `Last-Event-ID`. Otherwise a stream begins again, with the whole state. */
  readonly resumes: boolean;
}

/**
 * Returns how a method is offered as an event stream; undefined if it is not, because it returns one message or takes several.
 * GET is only offered if the method changes nothing and returns no secrets.
 */
export function eventStreamMethodOf(
  method: DescMethod,
  { mutation, secrets }: Pick<MethodRule, "mutation" | "secrets">,
): EventStreamMethod | undefined {
  return method.methodKind === "server_streaming"
    ? { method, byGet: !mutation && !secrets, resumes: cursorFieldOf(method.input) !== undefined }
    : undefined;
}
