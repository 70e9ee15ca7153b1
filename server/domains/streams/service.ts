import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import { type OpenStreamRequest, StreamService } from "../../../gen/hostplane/v1/stream_pb.ts";
import { fleetReasons } from "../../fleet/reasons.ts";
import type { Call } from "../../rpc/call/call.ts";
import { callerLeft } from "../../rpc/call/caller-left.ts";
import type { Route } from "../../rpc/call/router.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { createConnectEsHandler } from "../../rpc/protocols/connect-es/handler.ts";
import { listenerRefusalOf } from "../../rpc/protocols/http/listener-services.ts";
import type { Handle } from "../../rpc/protocols/http/serve.ts";
import { carriedHeader, makeCarriedCall } from "./carried-call.ts";
import { createCarriedResponse } from "./carried-response.ts";
import { createOpenCarriers } from "./open-carriers.ts";

export interface StreamServiceOptions {
  /** Returns the route of a method, by its full name. */
  readonly routeOf: (methodPath: string) => Route | undefined;
  /** Whether the gateway is a hub, which has no carriers for streams of its hosts. Default: false. */
  readonly isHub?: boolean;
  /** Silence after which a carrier has a heartbeat. Default: 5 s, as documented. */
  readonly heartbeatMs?: number;
  readonly log: { warn(message: string, cause?: unknown): void };
}

const contentTypes: readonly string[] = ["application/connect+proto", "application/connect+json"];

/** Creates hostplane.v1.StreamService: carriers, and the calls whose answers they carry. */
export function createStreamService({
  routeOf,
  isHub = false,
  heartbeatMs = 5_000,
  log,
}: StreamServiceOptions): ServiceRegistration {
  const carriers = createOpenCarriers(heartbeatMs);
  const handlers = new Map<Route, Handle>();

  function handlerOf(route: Route): Handle {
    const handle = handlers.get(route) ?? createConnectEsHandler(route);
    handlers.set(route, handle);
    return handle;
  }

  /** @throws InfraError INVALID_FIELD, SERVICE_NOT_ON_LISTENER, HOST_REQUIRED */
  function parseRoute({ method: path, contentType }: OpenStreamRequest, { peer }: Call): Route {
    const route = routeOf(path);
    if (route === undefined || route.method.methodKind !== "server_streaming" || route.rule.mutation) {
      const example = "hostplane.v1.PodService/WatchPods";
      throw invalidField("method", `expected a method that streams and changes nothing, such as ${example}`);
    }
    if (route.method.parent === StreamService) {
      throw invalidField("method", "a carrier cannot carry another one");
    }
    if (isHub && route.rule.hostBound) {
      const message = `${route.method.parent.typeName} belongs to the hosts; name one in CarryStreams, and in each OpenStream on its carrier`;
      throw new InfraError(fleetReasons.HOST_REQUIRED, message);
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
    carryStreams: (_request, call) => carriers.open(call),
    async openStream(request, call) {
      const { stream, contentType, body } = request;
      const carrier = carriers.find(request.carrierId, call);
      const route = parseRoute(request, call);
      const ending = new AbortController();
      // Browsers repeat a request whose connection was reset, so that it may arrive twice.
      if (!carrier.add(stream, () => ending.abort(callerLeft))) {
        return {};
      }
      const response = createCarriedResponse(carrier, stream);
      const header = carriedHeader(call, contentType);
      const carried = { path: route.path, header, body, peer: call.peer };
      void makeCarriedCall(handlerOf(route), carried, response, ending.signal)
        .catch((error: unknown) => log.warn(`an answer of ${request.method} could not be written`, error))
        .finally(() => carrier.delete(stream));
      return {};
    },
    async closeStream({ carrierId, stream }, call) {
      carriers.find(carrierId, call).end(stream);
      return {};
    },
  });
}
