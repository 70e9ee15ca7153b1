import { setMaxListeners } from "node:events";
import { createServer } from "node:http";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import fastify, { LogController } from "fastify";
import { pino } from "pino";
import { InfraError } from "../../adapters/host/infra-error.ts";
import { createDirectEntry } from "../../server/rpc/direct/direct-entry.ts";
import { createListener, type Listener } from "../../server/rpc/listener/listener.ts";
import type { ListenerFacts } from "../../server/rpc/listener-facts.ts";
import { answerNotFound, rpcPlugin } from "../../server/rpc/plugin.ts";
import {
  type ServerCompatRequest,
  ServerCompatRequestSchema,
  ServerCompatResponseSchema,
} from "./gen/connectrpc/conformance/v1/server_compat_pb.ts";
import { createConformanceRoutes } from "./routes.ts";

const host = "127.0.0.1";
const defaultMessageBytes = 4 * 1024 * 1024;

/**
 * Serves what the ServerCompatRequest on stdin asks for until SIGTERM, and says in a ServerCompatResponse on
 * stdout where. Before each stands its size: 4 bytes, big endian. stderr has the log.
 */
export async function serveSuite(): Promise<void> {
  const request = fromBinary(ServerCompatRequestSchema, await readSized());
  const shutdown = new AbortController();
  setMaxListeners(0, shutdown.signal);
  const listener = await startListener(request, shutdown.signal);
  process.once("SIGTERM", async () => {
    shutdown.abort(new InfraError("SHUTTING_DOWN", "the server is stopping"));
    await listener.close(0);
  });
  const port = Number(listener.address().split(":").at(-1));
  const pemCert = request.serverCreds?.cert ?? new Uint8Array();
  writeSized(
    toBinary(ServerCompatResponseSchema, create(ServerCompatResponseSchema, { host, port, pemCert })),
  );
}

async function startListener(
  { serverCreds, messageReceiveLimit }: ServerCompatRequest,
  shutdownSignal: AbortSignal,
): Promise<Listener> {
  const app = fastify({
    loggerInstance: pino({ level: "warn" }, pino.destination(2)),
    logController: new LogController({ disableRequestLogging: true }),
    serverFactory: () => createServer(),
    routerOptions: { caseSensitive: true, maxParamLength: 256 },
  });
  const facts: ListenerFacts = {
    address: host,
    services: undefined,
    access: "login",
    isTls: false,
    isLocal: true,
  };
  const routes = createConformanceRoutes(messageReceiveLimit || defaultMessageBytes, shutdownSignal);
  await app.register(rpcPlugin, { routes, listenerOf: () => facts });
  app.setNotFoundHandler(answerNotFound);
  await app.ready();
  const answerDirectly = createDirectEntry(routes, () => ({}), app.log);
  const tls =
    serverCreds === undefined
      ? undefined
      : { cert: Buffer.from(serverCreds.cert), key: Buffer.from(serverCreds.key) };
  const created = createListener({
    address: { kind: "tcp", host, port: 0 },
    mode: 0,
    tls,
    maxConcurrentStreams: 128,
    headerBytes: 16 * 1024,
    keepAliveMs: 15_000,
    onRequest(incoming, response) {
      if (!answerDirectly(incoming, response, facts)) {
        app.routing(incoming, response);
      }
    },
    onStream: (exchange) => answerDirectly(exchange, exchange, facts),
  });
  await created.listen();
  return created;
}

async function readSized(): Promise<Uint8Array> {
  let seen = Buffer.alloc(0);
  for await (const chunk of process.stdin) {
    seen = Buffer.concat([seen, chunk]);
    const end = seen.length < 4 ? Number.POSITIVE_INFINITY : 4 + seen.readUInt32BE(0);
    if (seen.length >= end) {
      return seen.subarray(4, end);
    }
  }
  throw new Error(`stdin ended after ${seen.length} bytes`);
}

function writeSized(message: Uint8Array): void {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(message.byteLength);
  process.stdout.write(Buffer.concat([size, message]));
}
