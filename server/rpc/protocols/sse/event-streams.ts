import type { DescMethod } from "@bufbuild/protobuf";
import type { Route } from "../../call/router.ts";
import { refuse } from "../http/refusal.ts";
import type { Alternative } from "../http/serve.ts";
import { acceptsEventStream } from "./accepts-event-stream.ts";
import { eventStreamMethodOf } from "./event-stream-methods.ts";
import { createEventStreamHandler } from "./handler.ts";

/**
 * Creates the answers of server-streaming routes to requests for server-sent events.
 * @param keepAliveMs silence after which a comment is sent
 */
export function createEventStreams(
  routes: readonly Route[],
  keepAliveMs: number,
): ReadonlyMap<DescMethod, Alternative> {
  const answers = new Map<DescMethod, Alternative>();
  for (const route of routes) {
    const { method, readMaxBytes } = route;
    const stream = eventStreamMethodOf(method, route.rule);
    if (stream !== undefined) {
      answers.set(method, {
        method,
        readMaxBytes,
        byGet: stream.byGet,
        accepts: (request) => acceptsEventStream(request.method, request.headers),
        handle: createEventStreamHandler(route, keepAliveMs),
        refuse,
      });
    }
  }
  return answers;
}
