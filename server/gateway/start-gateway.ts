import type { ListenerConfig } from "../config/schema.ts";
import type { Gateway, GatewayOptions, OpenGatewayOptions } from "./gateway.ts";
import { unknownServicesOf } from "./method-rules.ts";
import { openData } from "./open-data.ts";
import { assertAddressesFree } from "../rpc/listener/assert-addresses-free.ts";

/**
 * Opens the store and starts everything the configuration names.
 * @throws Error with the fix when one of them cannot be started; nothing is left open then
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, isSandbox, logger, secrets, onFatal } = options;
  assertServicesExist(config.listen);
  await assertAddressesFree(config);
  // Closed in reverse order of opening.
  const opened = new AsyncDisposableStack();
  try {
    // When this returns, SQLite's thread has started; it opens the database while the rest of the code is loaded.
    const opening = openData({
      config,
      isSandbox,
      environmentKey: secrets.key,
      logger,
      onLost: onFatal,
    });
    const [{ openGateway }, createSystems, data] = await Promise.all([
      import("./gateway.ts"),
      creatorOfSystems(options),
      opening,
    ]);
    opened.defer(() => data.store.close());
    opened.defer(() => data.writes.close());
    return await openGateway({ ...options, data, createSystems }, opened);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/** Loads only the code that is needed: a sandbox no code of real systems, and a real gateway no code of the sandbox. */
async function creatorOfSystems({
  config,
  isSandbox,
  logger,
}: GatewayOptions): Promise<OpenGatewayOptions["createSystems"]> {
  if (isSandbox) {
    return (await import("./sandbox-systems.ts")).createSandboxSystems;
  }
  const { createRealSystems } = await import("./systems.ts");
  return () => createRealSystems(config, logger);
}

function assertServicesExist(listeners: readonly ListenerConfig[]): void {
  const [unknown] = unknownServicesOf(listeners);
  if (unknown !== undefined) {
    throw new Error(unknown);
  }
}
