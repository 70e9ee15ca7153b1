import type { AddressInfo } from "node:net";
import fastify from "fastify";
import type { LoadedServer } from "../load/loaded-run.ts";
import { answerParent, cpuMs } from "../servers/bench-process.ts";

/** A Fastify route with schemas that validate the request and serialise the response. */

const message = {
  type: "object",
  properties: { text: { type: "string" } },
  required: ["text"],
} as const;

const app = fastify();
app.post<{ Body: { text: string } }>(
  "/echo",
  { schema: { body: message, response: { 200: message } } },
  async ({ body }) => ({ text: body.text }),
);
await app.listen({ host: "127.0.0.1", port: 0 });
const { port } = app.server.address() as AddressInfo;

answerParent({ target: async () => ({ port, token: "none" }), cpuMs } satisfies LoadedServer, () =>
  app.close(),
);
