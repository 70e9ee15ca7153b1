import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { createMaas, type MaasOptions } from "../../../adapters/maas/maas.ts";
import { createMaasSandbox } from "../../../adapters/maas/sandbox.ts";

/** Of nobody. */
export const apiKey = { consumer: "consumer", token: "token", secret: "hidden-secret" };

/** The sandbox, in which deployments take long. */
export async function startSandbox(t: Test, options: Parameters<typeof createMaasSandbox>[0] = {}) {
  const sandbox = await createMaasSandbox({ deployMs: 60_000, releaseMs: 0, ...options });
  t.teardown(() => sandbox.close());
  return sandbox;
}

/** A server that is no MAAS, and the adapter that takes it for one. */
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

/** What a promise was rejected with. @throws Error when it was not, or not with an InfraError */
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
