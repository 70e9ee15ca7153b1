import type { FastifyInstance } from "fastify";
import type { Backend } from "../domain/backend.ts";
import { type Readiness, readReadiness } from "./readiness.ts";

/**
 * Serves three public pages.
 * `/healthz`: the process answers.
 * `/readyz`: whether the gateway accepts requests, and the health of each system. It returns 503 while the gateway stops, and
 * while its store does not answer or cannot be written, since nothing can be changed then. Other systems that are down do not
 * make the gateway unready, because it still serves the rest. It reveals nothing about the configuration; ListBackends reports
 * what is missing.
 * `/readiness`: the same without the systems, in the form that Koor's clients expect.
 */
export async function statusPages(
  app: FastifyInstance,
  options: {
    readonly backends: readonly Backend[];
    /** The entry of `backends` for the gateway's own store. */
    readonly store: Backend;
    readonly shutdownSignal: AbortSignal;
  },
): Promise<void> {
  app.get("/healthz", async () => ({ status: "ok" }));
  const readStatus = () => readReadiness(options.shutdownSignal, options.store);
  app.get("/readiness", async (_request, reply) => {
    const status = await readStatus();
    return reply
      .code(httpCodeOf(status))
      .type("text/plain")
      .send(status === "ready" ? "OK" : status);
  });
  app.get("/readyz", async (_request, reply) => {
    const served = options.backends.filter(({ kind }) => kind === "real" || kind === "sandbox");
    const systems = await Promise.all(
      served.map(async (backend) => {
        const { health } = await backend.status();
        return { domain: backend.domain, system: backend.name, kind: backend.kind, health };
      }),
    );
    const status = await readStatus();
    return reply.code(httpCodeOf(status)).send({ status, systems });
  });
}

function httpCodeOf(status: Readiness): 200 | 503 {
  return status === "ready" ? 200 : 503;
}
