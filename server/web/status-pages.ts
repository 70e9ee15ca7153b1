import type { FastifyInstance } from "fastify";
import type { Backend, BackendHealth } from "../backend.ts";

/**
 * `/healthz`: the process answers. `/readyz`: it wants requests, and which system is how; 503 while it stops, and while
 * its store does not answer, without which nothing can be changed. Another system that is down does not make the gateway
 * unready, since the others are served all the same. Everybody may ask, so neither tells anything of the configuration; what is missing is ListBackends' to tell.
 */
export async function statusPages(
  app: FastifyInstance,
  options: {
    readonly backends: readonly Backend[];
    /** That of `backends` which the gateway itself cannot do without. */
    readonly store: Backend;
    readonly shutdownSignal: AbortSignal;
  },
): Promise<void> {
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    const served = options.backends.filter(({ kind }) => kind === "real" || kind === "sandbox");
    const systems = await Promise.all(
      served.map(async (backend) => {
        const { health } = await backend.status();
        return { domain: backend.domain, system: backend.name, kind: backend.kind, health };
      }),
    );
    const status = statusOf(options.shutdownSignal, (await options.store.status()).health);
    return reply.code(status === "ready" ? 200 : 503).send({ status, systems });
  });
}

function statusOf(
  shutdownSignal: AbortSignal,
  storeHealth: BackendHealth,
): "ready" | "stopping" | "storeUnavailable" {
  if (shutdownSignal.aborted) {
    return "stopping";
  }
  return storeHealth === "ok" ? "ready" : "storeUnavailable";
}
