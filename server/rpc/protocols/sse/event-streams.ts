import type { DescMethod } from "@bufbuild/protobuf";
import type { ServedRoute } from "../../call/router.ts";
import { refuse } from "../http/refusal.ts";
import type { OtherAnswer } from "../http/rpc-plugin.ts";
import { createEventStreamHandler, type EventStreamOptions } from "./event-stream-handler.ts";
import { eventStreamMethodOf } from "./event-stream-methods.ts";
import { wantsEventStream } from "./wants-event-stream.ts";

/** Creates the answers of server-streaming routes to requests for server-sent events. */
export function createEventStreams(
  routes: readonly ServedRoute[],
  options: EventStreamOptions,
): ReadonlyMap<DescMethod, OtherAnswer> {
  const answers = new Map<DescMethod, OtherAnswer>();
  for (const route of routes) {
    const { readMaxBytes, handle } = route;
    const { method } = handle;
    const stream = eventStreamMethodOf(method, route.rule);
    if (stream !== undefined) {
      answers.set(method, {
        method,
        readMaxBytes,
        byGet: stream.byGet,
        isWanted: (request) => wantsEventStream(request.method, request.headers),
        handle: createEventStreamHandler(route, options),
        refuse,
      });
    }
  }
  return answers;
}
