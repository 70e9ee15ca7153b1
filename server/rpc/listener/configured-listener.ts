import { randomUUID } from "node:crypto";
import type { FastifyBaseLogger } from "fastify";
import { createAddressFilter, isLoopbackHost, parseAddressRange } from "../../config/address-range.ts";
import type { GatewayConfig, ListenerConfig } from "../../config/gateway-keys.ts";
import { parseListenAddress } from "../../config/listen-address.ts";
import type { ListenerFacts } from "../call/listener-facts.ts";
import { requestIdHeader } from "../call/request-facts.ts";
import type {
  HttpRequest,
  HttpResponse,
  NodeRequest,
  NodeResponse,
} from "../protocols/http/http-exchange.ts";
import type { Http2Exchange } from "../protocols/http/http2-exchange.ts";
import { refuse } from "../protocols/http/refusal.ts";
import { createBrowserGuard } from "./browser-guard.ts";
import type { CertificateReload } from "./certificates/certificate-reload.ts";
import { createListener, type Listener } from "./listener.ts";
import { createRefusalLog } from "./refusal-log.ts";
import type { UnknownCallers } from "./unknown-callers/unknown-callers.ts";

export interface ConfiguredListenerOptions {
  readonly config: Pick<GatewayConfig, "limits" | "keepAliveMs" | "cors">;
  readonly certificates: CertificateReload;
  readonly logger: FastifyBaseLogger;
  readonly unknownCallers: UnknownCallers;
  /** Receives each request that the listener admits, with the listener's facts. */
  readonly onRequest: (request: NodeRequest, response: NodeResponse, listener: ListenerFacts) => void;
  /** Receives each admitted HTTP/2 stream first; returns whether it answers it. */
  readonly onStream: (exchange: Http2Exchange, listener: ListenerFacts) => boolean;
}

/**
 * Creates a listener from its configuration: who may connect, which certificates are required, which pages may send requests, and
 * which services are served.
 * @throws Error when its certificate cannot be used
 */
export function createConfiguredListener(
  entry: ListenerConfig,
  { config, certificates, logger, unknownCallers, onRequest, onStream }: ConfiguredListenerOptions,
): Listener {
  const { services, role, tls, hosts = [], allowFrom, allowForwarded = false } = entry;
  const address = valid(parseListenAddress(entry.address), entry.address);
  const facts: ListenerFacts = {
    address: entry.address,
    services: services === undefined ? undefined : new Set(services),
    access: role ?? "login",
    isTls: tls !== undefined,
    isLocal: address.kind === "unix" || isLoopbackHost(address.host),
    errorDetails: entry.errorDetails ?? true,
    lvmd: entry.lvmd ?? "backups",
    fleetHost: entry.fleetHost,
  };
  const guard = createBrowserGuard(
    { address, isOpen: entry.auth === "none", isTls: facts.isTls, allowsForwarded: allowForwarded, hosts },
    config.cors.origins,
  );
  const refusalLog = (what: string) =>
    createRefusalLog((refused) => logger.warn({ listener: entry.address, ...refused }, what));
  const logRefusedRequest = refusalLog("request refused");
  function refuses(request: HttpRequest, response: HttpResponse): boolean {
    const refusal = guard(request);
    if (refusal === undefined) {
      return false;
    }
    logRefusedRequest(request.socket.remoteAddress, refusal.message);
    const headers = { [requestIdHeader]: randomUUID() };
    refuse(request, response, refusal, headers, { errorDetails: facts.errorDetails });
    return true;
  }

  const listener: Listener = createListener({
    address,
    mode: entry.mode,
    tls: tls && certificates.use(tls, (certificate) => listener.reloadCertificate(certificate)),
    clientCertificate: tls && "clientCertificate" in tls ? tls.clientCertificate : undefined,
    isAddressAllowed:
      allowFrom && createAddressFilter(allowFrom.map((range) => valid(parseAddressRange(range), range))),
    onConnectionRefused: refusalLog("connection refused"),
    maxConcurrentStreams: config.limits.maxConcurrentStreams,
    headerBytes: config.limits.headerBytes,
    keepAliveMs: config.keepAliveMs,
    unknownCallers,
    onRequest(request, response) {
      if (!refuses(request, response)) {
        onRequest(request, response, facts);
      }
    },
    onStream: (exchange) => refuses(exchange, exchange) || onStream(exchange, facts),
  });
  return listener;
}

/** Returns the parsed form of a text that the schema has already accepted. */
function valid<Parsed>(parsed: Parsed | string, text: string): Parsed {
  if (typeof parsed === "string") {
    throw new TypeError(`${text}: ${parsed}`);
  }
  return parsed;
}
