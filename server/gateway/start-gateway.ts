import type { ListenerConfig } from "../config/gateway-keys.ts";
import { assertAddressesFree } from "../rpc/listener/assert-addresses-free.ts";
import type { Gateway } from "./gateway.ts";
import type { GatewayOptions, OpenGatewayOptions } from "./gateway-options.ts";
import { unknownServicesOf } from "./method-rules.ts";
import { openData } from "./open-data.ts";

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
    opened.defer(() => data.keyChanges.close());
    return await openGateway({ ...options, data, createSystems }, opened);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/** A sandbox does without the code of real systems, and a real gateway without that of the sandbox. */
async function creatorOfSystems({
  config,
  isSandbox,
  world,
  logger,
}: GatewayOptions): Promise<OpenGatewayOptions["createSystems"]> {
  const { openRealSystems, openSandboxSystems } = await import("./systems.ts");
  const isHub = config.fleet.hub !== undefined;
  return isSandbox ? () => openSandboxSystems(world, isHub) : () => openRealSystems(config, logger);
}

function assertServicesExist(listeners: readonly ListenerConfig[]): void {
  const [unknown] = unknownServicesOf(listeners);
  if (unknown !== undefined) {
    throw new Error(unknown);
  }
}
