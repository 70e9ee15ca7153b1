import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { createOnce } from "../../adapters/host/create-once.ts";
import { settleLeftCommands, settleLeftTools } from "../../adapters/host/process/left-tools.ts";
import { createSeal } from "../crypto/seal.ts";
import { createEvents, type Events } from "../events/events.ts";
import { createHistory, type History } from "../history/history.ts";
import { createOperations } from "../operations/engine/create-operations.ts";
import { createInlineRunner, type InlineRunner } from "../operations/engine/run-inline.ts";
import type { OperationsLog } from "../operations/operations-options.ts";
import type { OpenGatewayOptions } from "./gateway-options.ts";
import { hostNameOf } from "./host-name.ts";

const dayMs = 86_400_000;

/** What makes and records changes, whatever their domain. */
export interface Engine {
  /** This process, and the host whose changes it makes. */
  readonly instance: { readonly instanceId: string; readonly host: string };
  readonly log: OperationsLog;
  readonly runner: InlineRunner;
  readonly operations: ReturnType<typeof createOperations>;
  readonly events: Events;
  readonly history: History;
  /** Resolves when the commands that an earlier gateway started have ended. @throws the reason of the shutdown */
  readonly leftCommandsSettled: () => Promise<void>;
}

/**
 * Opens the engine on the store. The events and the history are closed by `opened`; the caller drains the runner and closes the
 * operations, after what uses them.
 */
export async function openEngine(
  { config, isSandbox, logger, data, boundary }: OpenGatewayOptions,
  shutdown: AbortSignal,
  opened: AsyncDisposableStack,
): Promise<Engine> {
  const instance = { instanceId: randomUUID(), host: hostNameOf(config) };
  const log: OperationsLog = {
    info: (message) => logger.info(message),
    warn: (message, err) => logger.warn({ err }, message),
  };
  const runner = createInlineRunner((mutation, step, err) =>
    logger.error(
      { err, mutation: mutation.kind, resource: mutation.resource, step: step.name },
      "undo failed",
    ),
  );
  const settleCommands = (signal: AbortSignal) =>
    settleLeftCommands({
      signal,
      onWaiting: (tools) =>
        logger.warn({ tools }, "changes of volumes wait for tools that an earlier gateway started"),
    });
  const leftCommands = createOnce(async () => {
    await settleCommands(shutdown);
    shutdown.throwIfAborted();
  });
  const events = await createEvents({
    store: data.store,
    keepMs: config.events.keepDays * dayMs,
    onFailed: (err) => logger.error({ err }, "events could not be read; retrying"),
  });
  opened.defer(() => events.close());
  const operations = createOperations({
    store: data.store,
    instance,
    seal: createSeal(data.masterKeys, "operations"),
    limits: { ...config.operations, keepMs: config.operations.keepDays * dayMs },
    log,
    settleLeftTools: (signal) =>
      settleLeftTools({
        signal,
        onWaiting: (tools) =>
          logger.warn({ tools }, "an operation waits for tools that an earlier gateway started"),
      }),
    settleLeftCommands: settleCommands,
    ...(boundary === undefined ? {} : { boundary }),
  });
  const history = createHistory({
    ...config.history,
    // A sandbox's systems end with its process, and so does their history.
    file: isSandbox ? undefined : join(data.directory, "history"),
    onFailed: (what, err) => logger.warn({ err }, what),
  });
  opened.defer(() => history.save());
  return { instance, log, runner, operations, events, history, leftCommandsSettled: leftCommands.get };
}
