import type { FastifyInstance, FastifyRequest } from "fastify";
import type { InfraError } from "../../adapters/host/infra-error.ts";
import type { Metrics } from "./metrics.ts";

export interface MetricsPageOptions {
  readonly metrics: Metrics;
  /** Returns why the caller may not read the metrics; undefined if it may. */
  readonly mayRead: (request: FastifyRequest) => Promise<InfraError | undefined>;
}

/** Serves `/metrics` for Prometheus. A caller that may not read it gets HTTP 401 or 403 with the reason as text. */
export async function metricsPage(app: FastifyInstance, options: MetricsPageOptions): Promise<void> {
  const { metrics, mayRead } = options;
  app.get("/metrics", async (request, reply) => {
    reply.header("cache-control", "no-store");
    const error = await mayRead(request);
    if (error !== undefined) {
      const status = statusOf(error);
      if (status === 401) {
        reply.header("www-authenticate", 'Bearer realm="hostplane"');
      }
      return reply.code(status).type("text/plain").send(`${error.reason}: ${error.message}\n`);
    }
    return reply.type(metrics.contentType).send(await metrics.text());
  });
}

function statusOf({ code }: InfraError): number {
  switch (code) {
    case "UNAUTHENTICATED":
      return 401;
    case "PERMISSION_DENIED":
      return 403;
    case "RESOURCE_EXHAUSTED":
      return 429;
    default:
      return 503;
  }
}
