import { create } from "@bufbuild/protobuf";
import { createContextValues } from "@connectrpc/connect";
import { Health, HealthCheckResponseSchema } from "../../../gen/grpc/health/v1/health_pb.ts";
import { methodRuleOf } from "../../../server/method-table.ts";
import { createRoutes } from "../../../server/rpc/router.ts";
import { registerService } from "../../../server/rpc/service-handlers.ts";

/**
 * Makes unary calls, a few at a time, and prints how many bytes of each V8 has moved to its old generation, by
 * content type. To be run with `--expose-gc`, a small young generation and an old one that needs no collection.
 */
const contentTypes = { "application/json": Buffer.from("{}"), "application/grpc+proto": Buffer.alloc(5) };
const callCount = 6000;
const atOnce = 3;

const { gc } = globalThis;
if (gc === undefined) {
  throw new TypeError("this process needs --expose-gc");
}
const refuse = () => Promise.reject(new Error("not part of it"));
const routes = createRoutes({
  registrations: [
    registerService(Health, {
      check: async () => create(HealthCheckResponseSchema, { status: 1 }),
      list: refuse,
      watch: async function* () {},
    }),
  ],
  ruleOf: methodRuleOf,
  around: [],
  aroundWork: (_call, next) => next(),
  maxMessageBytes: 1024,
  maxDeadlineMs: 60_000,
  keepAliveMs: 1_000,
  shutdownSignal: new AbortController().signal,
});
const route = routes.find(({ path }) => path.endsWith("/Check"));

async function* bodyOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  // The calls are then under way together, as those of sockets are.
  await new Promise((resolve) => setImmediate(resolve));
  yield bytes;
}

async function call(contentType: string, bytes: Uint8Array): Promise<void> {
  const gone = new AbortController();
  const answer = await route?.handle({
    httpVersion: "2.0",
    method: "POST",
    url: "http://gateway/grpc.health.v1.Health/Check",
    header: new Headers({ "content-type": contentType }),
    body: bodyOf(bytes),
    signal: gone.signal,
    contextValues: createContextValues(),
  });
  let answeredBytes = 0;
  for await (const chunk of answer?.body ?? []) {
    answeredBytes += chunk.byteLength;
  }
  gone.abort();
  if (answer?.status !== 200 || answeredBytes === 0) {
    throw new Error(`answered ${answer?.status} with ${answeredBytes} bytes`);
  }
}

async function callAll(contentType: string, bytes: Uint8Array): Promise<void> {
  for (let made = 0; made < callCount; made += atOnce) {
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
