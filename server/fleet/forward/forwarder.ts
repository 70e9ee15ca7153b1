import { randomUUID } from "node:crypto";
import type { FastifyBaseLogger } from "fastify";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Call } from "../../rpc/call/call.ts";
import type { ListenerFacts } from "../../rpc/call/listener-facts.ts";
import { methodPathOf } from "../../rpc/call/method-rule.ts";
import { requestIdHeader } from "../../rpc/call/request-facts.ts";
import { infraErrorFrom } from "../../rpc/errors/connect-error.ts";
import { fleetHostHeader } from "../../rpc/interceptors/known-headers.ts";
import type { AnswerHeaders, HttpRequest, HttpResponse } from "../../rpc/protocols/http/http-exchange.ts";
import { type RefusalOptions, refuse } from "../../rpc/protocols/http/refusal.ts";
import { serveRequest } from "../../rpc/protocols/http/serve-request.ts";
import { refuseRest } from "../../rpc/protocols/rest/error.ts";
import { rpcReasons } from "../../rpc/reasons.ts";
import { grantedFleetHosts } from "../caller/granted-hosts.ts";
import { fleetReasons } from "../reasons.ts";
import { linkOf, onlyHostWith } from "./find-host.ts";
import type { FleetHosts } from "./fleet-hosts.ts";
import { type ForwardOptions, forwardCall } from "./forward-call.ts";
import { type HostAddress, parseHostAddress } from "./host-address.ts";
import { refuseUnservable, sendText } from "./refuse-forwarded.ts";
import { createFindTarget, type Target, type TargetsOptions, unknownTargetOf } from "./targets.ts";
import { createAccessWatch } from "./watch-access.ts";

export interface ForwarderOptions extends TargetsOptions, ForwardOptions {
  readonly hosts: FleetHosts;
  readonly log: Pick<FastifyBaseLogger, "error">;
}

/**
 * Answers one request.
 * @param headers those that this hub gives every answer
 */
export type AnswerForwarded = (response: HttpResponse, headers: AnswerHeaders) => void;

/** Forwards requests of a hub to the hosts of its fleet. */
export interface Forwarder {
  /** Returns the function that answers a request to a host; undefined for a request that the hub serves itself. */
  find(request: HttpRequest, listener: ListenerFacts): AnswerForwarded | undefined;
}

/** @param options `routes`: every method of this hub; a method that only hosts have is forwarded by its path */
export function createForwarder(options: ForwarderOptions): Forwarder {
  const { hosts, log } = options;
  const parts = { ...options, accessWatch: createAccessWatch(options.hub) };
  const findTarget = createFindTarget(options);
  const findHostBound = createFindTarget({
    routes: options.routes.filter(({ rule }) => rule.hostBound),
    restRoutes: options.restRoutes,
  });

  function forwarded(
    request: HttpRequest,
    listener: ListenerFacts,
    target: Target,
    { host, url }: HostAddress,
  ): AnswerForwarded {
    const { method, rule, wire, isInContract } = target;
    if ("status" in wire && !isInContract) {
      const message = `unknown method ${methodPathOf(method)}`;
      const options = { httpStatus: 404, errorDetails: listener.errorDetails };
      return refused(request, new InfraError(rpcReasons.METHOD_NOT_FOUND, message), options);
    }
    if ("status" in wire) {
      return (response, headers) => refuseUnservable(wire, request, response, headers);
    }
    const findAmong = (all: FleetHosts) => host ?? onlyHostWith(all, rule.domain, method.parent.typeName);
    return (response, headers) => {
      const arrived = { request, response, listener, headers, log };
      const refuseCall = wire.protocol === "rest" ? refuseRest : refuse;
      const serving = serveRequest(method, refuseCall, arrived, (facts, headers) => {
        const link = (call: Call) => {
          const granted = grantedFleetHosts(hosts, call);
          return linkOf(granted, findAmong(granted));
        };
        const fleetHost = host ?? attempted(() => findAmong(hosts));
        return forwardCall(
          { target, wire, url, link, request, response, facts: { ...facts, fleetHost }, headers },
          parts,
        );
      });
      serving.catch((err) => log.error({ err }, "a refusal could not be written"));
    };
  }

  function ofNamedHost(
    request: HttpRequest,
    listener: ListenerFacts,
    address: HostAddress,
  ): AnswerForwarded | undefined {
    const target = findTarget(address.url, request) ?? unknownTargetOf(address.url, request);
    if (target !== undefined && !target.rule.fleetWide) {
      return forwarded(request, listener, target, address);
    }
    if (!address.isNamedByRequest) {
      // Clients that cannot name a host log in here as well.
      return undefined;
    }
    if (target === undefined) {
      return (response, headers) => sendText(request, response, 404, headers, "not found");
    }
    const { typeName } = target.method.parent;
    const message = `${typeName} is the hub's own; call it without the name of a host`;
    return refused(request, new InfraError(fleetReasons.NOT_ON_HOSTS, message), {
      errorDetails: listener.errorDetails,
    });
  }

  return {
    find(request, listener) {
      let address: HostAddress;
      try {
        address = parseHostAddress({
          url: request.url ?? "/",
          hostHeader: request.headers[fleetHostHeader]?.toString(),
          listenerHost: listener.fleetHost,
        });
      } catch (thrown) {
        return refused(request, infraErrorFrom(thrown), { errorDetails: listener.errorDetails });
      }
      if (address.host !== undefined) {
        return ofNamedHost(request, listener, address);
      }
      const target = findHostBound(address.url, request);
      return target && forwarded(request, listener, target, address);
    },
  };
}

function refused(request: HttpRequest, error: InfraError, options: RefusalOptions): AnswerForwarded {
  return (response, headers) =>
    refuse(request, response, error, { ...headers, [requestIdHeader]: randomUUID() }, options);
}

function attempted(find: () => string): string | undefined {
  try {
    return find();
  } catch {
    return undefined;
  }
}
