import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { Pool, type PoolClient } from "pg";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import type { Expectations } from "../database-facts.ts";
import { noteCommitted } from "../note-committed.ts";
import { loadProgram, type ProgramModules } from "../program.ts";
import { storeReasons } from "../reasons.ts";
import type { Store } from "../store.ts";
import type { StoreLog } from "../store-log.ts";
import type { StoreUser } from "../store-user.ts";
import { createSubscribers } from "../subscribers.ts";
import type { Topic, Transaction } from "../transaction.ts";
import { applicationName, claimPostgres, reclaimPatienceMs } from "./postgres-claim.ts";
import { boundedConfig, kyselyOnConnection, sqlRunner } from "./postgres-client.ts";
import { createPostgresErrors, isToRunAgain, storeUnavailable } from "./postgres-errors.ts";
import { startPostgresListener } from "./postgres-listener.ts";
import { preparePostgres } from "./postgres-prepare.ts";
import { type Committed, type PostgresConnection, runSerializable } from "./postgres-transaction.ts";

/** Options of `openPostgresStore`. */
export interface PostgresStoreOptions {
  readonly url: string;
  readonly expectations: (shownAs: string) => Expectations;
  readonly modules: ProgramModules;
  readonly log: StoreLog;
  readonly user: StoreUser | undefined;
}

const maxConnections = 10;

/**
 * Attempts of a transaction in parallel with others. After this many conflicts it would probably keep losing, so it then runs
 * exclusively.
 */
const attemptsBesideOthers = 3;

const maxAttempts = 6;

const longestPauseMs = 10;

/**
 * Opens a PostgreSQL database, which other gateways may use as well. Lost connections are re-established.
 * @throws InfraError the errors of `openStore`
 */
export async function openPostgresStore<T>(options: PostgresStoreOptions): Promise<Store<T>> {
  const { url, modules, log, user } = options;
  const errors = createPostgresErrors(url);
  const expectations = options.expectations(errors.shownAs);
  const { transactions, migrations } = await loadProgram(modules);
  for (const note of await preparePostgres(url, errors, expectations, migrations)) {
    log.info(note);
  }

  const sender = randomUUID();
  const subscribers = createSubscribers();
  const config = { ...boundedConfig(url), application_name: applicationName(user) };
  const listener = await startPostgresListener({
    config,
    errors,
    log,
    onPayload(payload) {
      const [topic, from] = payload.split(" ");
      if (from !== sender) {
        subscribers.call(topic as Topic);
      }
    },
    async onConnected(client, isFirst) {
      if (user === undefined) {
        return;
      }
      if (isFirst) {
        await claimPostgres(client, user, errors.shownAs);
        return;
      }
      // Its lost connection may still have the lock, and notifications must not wait for that.
      claimPostgres(client, user, errors.shownAs, reclaimPatienceMs).catch((error: unknown) =>
        log.warn("another gateway may use the database of this one", errors.plainError(error)),
      );
    },
    onGap: subscribers.callAll,
  }).catch((error: unknown) => {
    throw error instanceof InfraError ? error : storeUnavailable(errors.plainError(error));
  });

  const pool = new Pool({ ...config, max: maxConnections });
  // A lost connection is reported by the next query; an idle one is replaced when needed.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  const connections = new WeakMap<PoolClient, PostgresConnection>();
  const running = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;

  function connectionOf(client: PoolClient): PostgresConnection {
    const known = connections.get(client);
    if (known !== undefined) {
      return known;
    }
    const run = sqlRunner(client, errors);
    const connection = { run, db: kyselyOnConnection(run) };
    connections.set(client, connection);
    return connection;
  }

  async function attempt(name: string, args: unknown, isAlone: boolean): Promise<Committed> {
    const client = await pool.connect().catch((error: unknown) => {
      throw storeUnavailable(errors.plainError(error));
    });
    const connection = connectionOf(client);
    try {
      const transaction = transactions[name] as Transaction<unknown, unknown>;
      const committed = await runSerializable(connection, transaction, args, { sender, isAlone });
      client.release();
      return committed;
    } catch (error) {
      client.release(!(await isRolledBack(connection, error)));
      throw error;
    }
  }

  /** A connection that did not answer is not used again. */
  async function isRolledBack({ run }: PostgresConnection, error: unknown): Promise<boolean> {
    return error instanceof InfraError
      ? false
      : run("rollback").then(
          () => true,
          () => false,
        );
  }

  async function runUntilCommitted(name: string, args: unknown): Promise<unknown> {
    for (let count = 1; count <= maxAttempts; count += 1) {
      const isAlone = count > attemptsBesideOthers;
      try {
        const { result, topics } = await attempt(name, args, isAlone);
        for (const topic of topics) {
          subscribers.call(topic);
        }
        noteCommitted(topics);
        return result;
      } catch (error) {
        if (!isToRunAgain(error, isAlone)) {
          throw errors.infraError(error, `the transaction ${name} failed`);
        }
      }
      await delay(Math.random() * longestPauseMs);
    }
    const message = "too many concurrent changes to the same data; try again";
    throw new InfraError(storeReasons.STORE_UNAVAILABLE, message, { retryAfterMs: 1000 });
  }

  async function close(): Promise<void> {
    await Promise.allSettled(running);
    await listener.close();
    await pool.end();
  }

  return {
    isShared: true,
    async run(name, args) {
      if (closed !== undefined) {
        throw new InfraError(hostReasons.SHUTTING_DOWN, "the store is closed");
      }
      const call = runUntilCommitted(name, args);
      running.add(call);
      try {
        return (await call) as never;
      } finally {
        running.delete(call);
      }
    },
    subscribe: subscribers.add,
    async backup() {
      const message = `the gateway cannot back up the database ${errors.shownAs}; use PostgreSQL's pg_dump`;
      throw new InfraError(storeReasons.BACKUP_REFUSED, message);
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
}
