import { Readable, Writable } from "node:stream";
import { create } from "@bufbuild/protobuf";
import { Health, HealthCheckResponseSchema } from "../../../../../gen/grpc/health/v1/health_pb.ts";
import { methodRuleOf } from "../../../../../server/gateway/method-rules.ts";
import { createOpenCalls } from "../../../../../server/rpc/call/open-calls.ts";
import { createRoutes } from "../../../../../server/rpc/call/router.ts";
import { registerService } from "../../../../../server/rpc/call/service-handlers.ts";
import { createDirectHandler } from "../../../../../server/rpc/protocols/direct/handler.ts";
import { readRequestHead } from "../../../../../server/rpc/protocols/direct/request.ts";
import type { NodeRequest, NodeResponse } from "../../../../../server/rpc/protocols/http/http-exchange.ts";

/**
 * Makes unary calls, a few at a time, and prints by content type how many bytes per call V8 has moved to its old generation. Must
 * be run with `--expose-gc`, a small young generation, and an old one that needs no collection.
 */
const contentTypes = { "application/json": Buffer.from("{}"), "application/grpc+proto": Buffer.alloc(5) };
const callCount = 6000;
const atOnce = 100;

const { gc } = globalThis;
if (gc === undefined) {
  throw new TypeError("this process needs --expose-gc");
}
const refuse = () => Promise.reject(new Error("not part of it"));
const shutdownSignal = new AbortController().signal;
const routes = createRoutes({
  registrations: [
    registerService(Health, {
      check: async () => create(HealthCheckResponseSchema, { status: 1 }),
      list: refuse,
      watch: async function* () {},
    }),
  ],
  ruleOf: methodRuleOf,
  interceptorsFor: () => ({ interceptors: [], workInterceptors: [] }),
  maxMessageBytes: 1024,
  maxDeadlineMs: 60_000,
  keepAliveMs: 1_000,
  openCalls: createOpenCalls(shutdownSignal),
});
const route = routes.find(({ path }) => path.endsWith("/Check"));
const direct = route === undefined ? undefined : createDirectHandler(route);
const peer = {
  address: "",
  listener: "",
  services: undefined,
  access: "login",
  isTls: false,
  authority: "",
  certificate: undefined,
  httpVersion: "2.0",
  errorDetails: true,
  lvmd: "backups",
} as const;

/** A response that accepts everything. */
class Taking extends Writable {
  headersSent = false;
  statusCode = 0;
  takenBytes = 0;

  writeHead(statusCode: number): void {
    this.statusCode = statusCode;
    this.headersSent = true;
  }

  addTrailers(): void {}

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    this.takenBytes += chunk.byteLength;
    done();
  }
}

async function* bodyOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  // So that the calls run concurrently, like those of sockets.
  await new Promise((resolve) => setImmediate(resolve));
  yield bytes;
}

async function call(contentType: string, bytes: Uint8Array): Promise<void> {
  const body = Readable.from(bodyOf(bytes), { objectMode: false });
  const headers = { "content-type": contentType };
  const request = Object.assign(body, {
    headers,
    method: "POST",
    url: "/",
    httpVersion: "2.0",
  }) as unknown as NodeRequest;
  const taking = new Taking();
  const response = taking as unknown as NodeResponse;
  const head = direct === undefined ? undefined : readRequestHead(direct.method, request);
  if (direct === undefined || head === undefined) {
    throw new Error("such a request is not read");
  }
  await direct.answer(head, request, response, { peer, requestId: "", response }, {});
  if (taking.statusCode !== 200 || taking.takenBytes === 0) {
    throw new Error(`answered ${taking.statusCode} with ${taking.takenBytes} bytes`);
  }
}

async function callAll(contentType: string, bytes: Uint8Array): Promise<void> {
  for (let createdCount = 0; createdCount < callCount; createdCount += atOnce) {
    await Promise.all(Array.from({ length: atOnce }, () => call(contentType, bytes)));
  }
}

const promoted: Record<string, number> = {};
for (const [contentType, bytes] of Object.entries(contentTypes)) {
  await callAll(contentType, bytes);
  gc();
  const before = process.memoryUsage().heapUsed;
  await callAll(contentType, bytes);
  gc({ type: "minor" });
  gc({ type: "minor" });
  promoted[contentType] = Math.round((process.memoryUsage().heapUsed - before) / callCount);
}
process.stdout.write(JSON.stringify(promoted));
