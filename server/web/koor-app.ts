import type { FastifyInstance } from "fastify";

/**
 * Serves the requests that Koor's own web application sends to its origin: the version and the login providers besides passwords
 * (none), which it needs before it shows anything, and a ping. All are public.
 */
export async function koorApp(
  app: FastifyInstance,
  { version }: { readonly version: string },
): Promise<void> {
  app.post("/api/config", async () => ({ version, login: { providers: [] } }));
  app.get("/api/ping", async () => ({ message: "Pong" }));
}
