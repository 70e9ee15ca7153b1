import { setTimeout as delay } from "node:timers/promises";
import type { ClientBase } from "pg";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { storeReasons } from "../reasons.ts";
import type { StoreUser } from "../store-user.ts";

/** Locked by each gateway while its listening connection is open. The number is unique in this database. */
const claimLock = 0x686f7375;

/** A killed gateway's connections end at once, those of a gateway that is stopping soon. */
const startPatienceMs = 5000;
const pollMs = 200;

/**
 * A connection whose other end has vanished ends after 20 s, and with it its lock. PostgreSQL's own limit is two hours
 * (https://www.postgresql.org/docs/current/runtime-config-connection.html).
 */
const endIfSilent =
  "set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 2";

/** How long a lost connection of this gateway may keep its lock. */
export const reclaimPatienceMs = 30_000;

/** Returns the name of the gateway's connections in PostgreSQL, which other gateways read. */
export function applicationName(user: StoreUser | undefined): string {
  // PostgreSQL replaces other characters, and cuts the name after 63.
  return `hostplane ${user?.name ?? ""}`
    .trim()
    .replaceAll(/[^\x20-\x7e]/g, "?")
    .slice(0, 63);
}

/**
 * Claims the database for as long as the connection is open: for this gateway alone if it has systems of its host, else together
 * with others that have none.
 * @param patienceMs how long to wait for another gateway to end
 * @throws InfraError STORE_IN_USE, which names the other gateway; the error of `pg` when the connection is lost
 */
export async function claimPostgres(
  client: ClientBase,
  { name, hostSystems }: StoreUser,
  shownAs: string,
  patienceMs = startPatienceMs,
): Promise<void> {
  const isAlone = hostSystems.length > 0;
  await client.query(endIfSilent);
  const lock = `select ${isAlone ? "pg_try_advisory_lock" : "pg_try_advisory_lock_shared"}(${claimLock}) as is_held`;
  const endMs = performance.now() + patienceMs;
  while (!((await client.query(lock)).rows[0] as { is_held: boolean }).is_held) {
    if (performance.now() > endMs) {
      const others = await otherUsers(client);
      throw new InfraError(
        storeReasons.STORE_IN_USE,
        `The database ${shownAs} is used by ${others}, and ${isAlone ? `this gateway (${name}) serves ${hostSystems.join(", ")} of its own host` : "that one serves systems of its own host"}: a caller would get whichever host answers. Several gateways on one database must be hubs or serve only storage and clusters. Give each host its own store, and let it join a hub: docs/how-to/move-to-a-fleet.md.`,
      );
    }
    await delay(pollMs);
  }
}

async function otherUsers(client: ClientBase): Promise<string> {
  const { rows } = await client.query(
    `select distinct application_name as name, host(client_addr) as address from pg_locks join pg_stat_activity using (pid)
     where locktype = 'advisory' and classid = 0 and objid = ${claimLock} and objsubid = 1 and granted and pid <> pg_backend_pid()
     and pg_locks.database = (select oid from pg_database where datname = current_database()) order by 1, 2`,
  );
  const names = (rows as { name: string; address: string | null }[]).map(
    ({ name, address }) => `${name.replace(/^hostplane /, "")} (${address ?? "local"})`,
  );
  return names.length === 0
    ? "another gateway"
    : `the ${names.length === 1 ? "gateway" : "gateways"} ${names.join(", ")}`;
}
