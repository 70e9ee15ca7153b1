import type { FastifyInstance } from "fastify";
import type { Backend, BackendHealth } from "../backend.ts";

/**
 * `/healthz`: the process answers. `/readyz`: it wants requests, and which system is how; 503 while it stops, and while
 * its store does not answer or cannot be written, without which nothing can be changed. Another system that is down does not make the gateway
 * unready, since the others are served all the same. Everybody may ask, so neither tells anything of the configuration; what is missing is ListBackends' to tell.
 * `/readiness`: the same without the systems, as Koor's clients know it.
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
  const readStatus = async () => statusOf(options.shutdownSignal, (await options.store.status()).health);
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

type Readiness = "ready" | "stopping" | "storeUnavailable";

function httpCodeOf(status: Readiness): 200 | 503 {
  return status === "ready" ? 200 : 503;
}

function statusOf(shutdownSignal: AbortSignal, storeHealth: BackendHealth): Readiness {
  if (shutdownSignal.aborted) {
    return "stopping";
  }
  return storeHealth === "unavailable" ? "storeUnavailable" : "ready";
}
