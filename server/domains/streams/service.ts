import { randomUUID } from "node:crypto";
import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import { type OpenStreamRequest, StreamService } from "../../../gen/hostplane/v1/stream_pb.ts";
import type { Call } from "../../rpc/call/call.ts";
import { callerLeft } from "../../rpc/call/caller-left.ts";
import type { Route } from "../../rpc/call/router.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { createConnectEsHandler } from "../../rpc/protocols/connect-es/handler.ts";
import { listenerRefusalOf } from "../../rpc/protocols/http/listener-services.ts";
import type { Handle } from "../../rpc/protocols/http/serve.ts";
import { makeCarriedCall } from "./carried-call.ts";
import { createCarriedResponse } from "./carried-response.ts";
import { type Carrier, createCarrier } from "./carrier.ts";
import { streamReasons } from "./reasons.ts";

export interface StreamServiceOptions {
  /** Returns the route of a method, by its full name. */
  readonly routeOf: (methodPath: string) => Route | undefined;
  /** Silence after which a carrier has a heartbeat. Default: 5 s, as documented. */
  readonly heartbeatMs?: number;
  readonly log: { warn(message: string, cause?: unknown): void };
}

const contentTypes: readonly string[] = ["application/connect+proto", "application/connect+json"];

/** Creates hostplane.v1.StreamService: carriers, and the calls whose answers they carry. */
export function createStreamService({
  routeOf,
  heartbeatMs = 5_000,
  log,
}: StreamServiceOptions): ServiceRegistration {
  const carriers = new Map<string, { readonly carrier: Carrier; readonly owner: string }>();
  const handlers = new Map<Route, Handle>();

  function handlerOf(route: Route): Handle {
    const handle = handlers.get(route) ?? createConnectEsHandler(route);
    handlers.set(route, handle);
    return handle;
  }

  /** @throws InfraError CARRIER_NOT_FOUND */
  function carrierOf(id: string, call: Call): Carrier {
    const found = carriers.get(id);
    // Another login, even of the same user, may end at another time.
    if (found === undefined || found.owner !== ownerOf(call)) {
      const message = `carrier "${id}" does not exist, has ended, or was opened with another credential`;
      throw new InfraError(streamReasons.CARRIER_NOT_FOUND, message);
    }
    return found.carrier;
  }

  /** @throws InfraError INVALID_FIELD, SERVICE_NOT_ON_LISTENER */
  function parseRoute({ method: path, contentType }: OpenStreamRequest, { peer }: Call): Route {
    const route = routeOf(path);
    if (route === undefined || route.method.methodKind !== "server_streaming" || route.rule.mutation) {
      const example = "hostplane.v1.PodService/WatchPods";
      throw invalidField("method", `expected a method that streams and changes nothing, such as ${example}`);
    }
    if (route.method.parent === StreamService) {
      throw invalidField("method", "a carrier cannot carry another one");
    }
    if (!contentTypes.includes(contentType)) {
      throw invalidField("content_type", `expected ${contentTypes.join(" or ")}`);
    }
    const refusal = listenerRefusalOf(route.method.parent, peer.listener, peer.services);
    if (refusal !== undefined) {
      throw refusal;
    }
    return route;
  }

  return registerService(StreamService, {
    async *carryStreams(_request, call) {
      const carrierId = randomUUID();
      const carrier = createCarrier(heartbeatMs);
      carriers.set(carrierId, { carrier, owner: ownerOf(call) });
      try {
        yield { message: { case: "opened", value: { carrierId } } };
        yield* carrier.messages(call.signal);
      } finally {
        carriers.delete(carrierId);
      }
    },
    async openStream(request, call) {
      const { stream, contentType, body } = request;
      const carrier = carrierOf(request.carrierId, call);
      const route = parseRoute(request, call);
      const ending = new AbortController();
      // Browsers repeat a request whose connection was reset, so that it may arrive twice.
      if (!carrier.add(stream, () => ending.abort(callerLeft))) {
        return {};
      }
      const response = createCarriedResponse(carrier, stream);
      const carried = { path: route.path, contentType, body };
      void makeCarriedCall(handlerOf(route), carried, call, response, ending.signal)
        .catch((error: unknown) => log.warn(`an answer of ${request.method} could not be written`, error))
        .finally(() => carrier.delete(stream));
      return {};
    },
    async closeStream({ carrierId, stream }, call) {
      carrierOf(carrierId, call).end(stream);
      return {};
    },
  });
}

function ownerOf({ caller, peer }: Call): string {
  return JSON.stringify([peer.listener, caller.accountId, caller.sessionId]);
}
