import { setTimeout as delay } from "node:timers/promises";
import { Client, type ClientConfig } from "pg";
import { backOffMs } from "../../../adapters/host/back-off.ts";
import type { StoreLog } from "../store-log.ts";
import type { PostgresErrors } from "./postgres-errors.ts";
import { channel } from "./postgres-transaction.ts";

/** Options of `startPostgresListener`. */
export interface ListenerOptions {
  readonly config: ClientConfig;
  readonly errors: PostgresErrors;
  readonly log: StoreLog;
  /** Called with each new connection. If it fails for the first one, the start fails with that error. */
  onConnected(client: Client, isFirst: boolean): Promise<void>;
  onPayload(payload: string): void;
  /** Called after a reconnect: notifications may have been missed. */
  onGap(): void;
}

/** Receives notifications until it is closed. */
export interface PostgresListener {
  close(): Promise<void>;
}

/** A connection that died silently is detected after this interval plus the time limit of a query. */
const heartbeatMs = 15_000;

const pauses = { firstMs: 100, longestMs: 5_000 };

/**
 * Listens on a dedicated connection, and reconnects without a time limit when it is lost.
 * @throws the error of `pg` or of `onConnected` when the first connection fails
 */
export async function startPostgresListener(options: ListenerOptions): Promise<PostgresListener> {
  const { errors, log, onGap } = options;
  const closing = new AbortController();
  const { signal } = closing;
  let client = await listen(options, lost, true);
  let reconnecting: Promise<void> | undefined;

  function lost(error: unknown): void {
    if (!signal.aborted) {
      log.warn(
        "the connection that listens for changes by other gateways was lost",
        errors.plainError(error),
      );
      reconnecting = reconnect();
    }
  }

  async function reconnect(): Promise<void> {
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        client = await listen(options, lost, false);
        log.info("listening for changes by other gateways again");
        onGap();
        return;
      } catch {
        // The loss was logged; further failures are not.
        await delay(backOffMs(failures, pauses), undefined, { signal }).catch(() => undefined);
      }
    }
  }

  const heartbeat = setInterval(() => {
    const current = client;
    // `end` closes a connection with an unanswered query at once, which triggers the reconnect.
    current.query("select 1").catch(() => void current.end().catch(() => undefined));
  }, heartbeatMs).unref();

  return {
    async close() {
      closing.abort();
      clearInterval(heartbeat);
      await reconnecting;
      await client.end().catch(() => undefined);
    },
  };
}

async function listen(
  { config, onConnected, onPayload }: ListenerOptions,
  onLost: (error: unknown) => void,
  isFirst: boolean,
): Promise<Client> {
  const client = new Client(config);
  let isListening = false;
  let failure: unknown = new Error("the server closed the connection");
  client.on("error", (error) => {
    failure = error;
  });
  client.on("notification", ({ payload = "" }) => onPayload(payload));
  client.on("end", () => {
    if (isListening) {
      onLost(failure);
    }
  });
  try {
    await client.connect();
    await client.query(`listen ${channel}`);
    await onConnected(client, isFirst);
    isListening = true;
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}
