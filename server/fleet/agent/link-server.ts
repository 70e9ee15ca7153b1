import {
  createServer,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Duplex } from "node:stream";
import { z } from "zod";
import type { ListenerFacts } from "../../rpc/call/listener-facts.ts";
import { keepAlive } from "../../rpc/listener/keep-alive.ts";
import { serveHttp2 } from "../../rpc/listener/serve-http2.ts";
import { http2OptionsOf } from "../../rpc/listener/server-parts.ts";
import type { NodeRequest, NodeResponse } from "../../rpc/protocols/http/http-exchange.ts";
import type { Http2Exchange } from "../../rpc/protocols/http/http2-exchange.ts";
import { hubAddresses } from "../join-token.ts";
import { errorDetailsHeader, hubsPath, linkPingMs, withoutErrorDetails } from "../links/link-protocol.ts";
import { hostAndPort } from "./connect-to-hub.ts";

/** Serves hubs on the connections that this gateway has opened to them. */
export interface LinkServer {
  /** Serves the hub at the other end of a connection, until either side closes it. */
  serve(connection: Duplex, hubAddress: string): void;
  /** Lets no call begin, and ends each connection with its last call. */
  close(): void;
}

export interface LinkServerOptions {
  readonly onRequest: (request: NodeRequest, response: NodeResponse, listener: ListenerFacts) => void;
  /** Receives each HTTP/2 stream first; returns whether it answers it. */
  readonly onStream: (exchange: Http2Exchange, listener: ListenerFacts) => boolean;
}

/** Limits of a hub, which limits each of its callers by itself. */
const limits = { maxConcurrentStreams: 4096, headerBytes: 65_536 };

/**
 * How much of the answers to all callers may wait on a connection, in MB, before Node refuses further calls on it. By default that
 * is 10 MB: three slow readers of the largest answers would keep all others from the host.
 */
const maxSessionMemory = 256;

/** @param onHubs receives the addresses of all hubs of the fleet, which a hub reports */
export function createLinkServer(
  { onRequest, onStream }: LinkServerOptions,
  onHubs: (hubs: readonly string[]) => Promise<void> = async () => {},
): LinkServer {
  const sessions = new Set<ServerHttp2Session>();
  return {
    serve(connection, hubAddress) {
      const facts: ListenerFacts = {
        address: `hub/${hubAddress}`,
        services: undefined,
        access: "hub",
        isTls: true,
        isLocal: false,
        errorDetails: true,
        lvmd: "backups",
      };
      const plainFacts: ListenerFacts = { ...facts, errorDetails: false };
      const factsFor = ({ headers }: { readonly headers: IncomingHttpHeaders }) =>
        headers[errorDetailsHeader] === withoutErrorDetails ? plainFacts : facts;
      // It never listens. Its session is created here, because a server only takes TLS connections that were opened for HTTP/2.
      const server = createServer();
      serveHttp2(
        server,
        () => true,
        (request, response) => onRequest(request, response, factsFor(request)),
        (exchange) => onStream(exchange, factsFor(exchange)),
      );
      const session = performServerHandshake(connection, { ...http2OptionsOf(limits), maxSessionMemory });
      sessions.add(session);
      session.on("stream", (stream, headers, ...rest) => {
        if (headers[":path"] === hubsPath) {
          void answerHubs(stream, onHubs);
        } else {
          server.emit("stream", stream, headers, ...rest);
        }
      });
      session.on("error", () => {});
      session.once("close", () => sessions.delete(session));
      keepAlive(session, linkPingMs, connection);
    },
    close() {
      for (const session of sessions) {
        session.close();
      }
    },
  };
}

const maxHubsBytes = 16_384;
const hubsMessage = z.object({ hubs: hubAddresses });

/** Takes the addresses of all hubs. A hub that sends anything else gets status 400. */
async function answerHubs(
  stream: ServerHttp2Stream,
  onHubs: (hubs: readonly string[]) => Promise<void>,
): Promise<void> {
  stream.on("error", () => {});
  let status = 204;
  try {
    let text = "";
    for await (const chunk of stream.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
      text += chunk;
      if (text.length > maxHubsBytes) {
        throw new RangeError(`more than ${maxHubsBytes} bytes`);
      }
    }
    const { hubs } = hubsMessage.parse(JSON.parse(text));
    hubs.forEach(hostAndPort);
    await onHubs(hubs);
  } catch {
    status = 400;
  }
  if (!stream.destroyed) {
    stream.respond({ ":status": status }, { endStream: true });
    // What was not read.
    stream.resume();
  }
}
