import type { FastifyInstance } from "fastify";

/**
 * What Koor's own web application asks of the origin that it calls: before it shows anything, which version it speaks to and
 * by whom people may log in but by a password (nobody), and whether the gateway is there. Everybody may ask.
 */
export async function koorApp(
  app: FastifyInstance,
  { version }: { readonly version: string },
): Promise<void> {
  app.post("/api/config", async () => ({ version, login: { providers: [] } }));
  app.get("/api/ping", async () => ({ message: "Pong" }));
}
