import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { createMaas, type MaasOptions } from "../../../adapters/maas/maas.ts";
import { createMaasSandbox } from "../../../adapters/maas/sandbox.ts";

/** A dummy API key. */
export const apiKey = { consumer: "consumer", token: "token", secret: "hidden-secret" };

/** Creates a sandbox in which deployments take long. */
export async function startSandbox(t: Test, options: Parameters<typeof createMaasSandbox>[0] = {}) {
  const sandbox = await createMaasSandbox({ deployMs: 60_000, releaseMs: 0, ...options });
  t.teardown(() => sandbox.close());
  return sandbox;
}

/** Starts a server other than a MAAS, and an adapter connected to it. */
export async function startServer(t: Test, listener: RequestListener, options: Partial<MaasOptions> = {}) {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const maas = createMaas({ url: `http://127.0.0.1:${port}/MAAS`, apiKey, ...options });
  t.teardown(async () => {
    await maas.close();
    server.closeAllConnections();
    server.close();
  });
  return { maas, url: `http://127.0.0.1:${port}/MAAS` };
}

/**
 * Returns the rejection of a promise. @throws Error if it resolved, or rejected with something other than an InfraError
 */
export async function errorOf(promise: Promise<unknown>): Promise<InfraError> {
  const error = await promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!(error instanceof InfraError)) {
    throw new Error("no InfraError", { cause: error });
  }
  return error;
}
