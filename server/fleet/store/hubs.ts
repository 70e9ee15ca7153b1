import type { TransactionContext } from "../../store/transaction.ts";

/** A hub that uses the database. */
export interface HubRecord {
  /** The process. */
  readonly instanceId: string;
  /** Name for people; two hubs may have the same. */
  readonly name: string;
  /** Where agents reach it, as `host:port`. */
  readonly addresses: readonly string[];
  /** IDs of the hosts that are connected to it; none of a hub that was not seen lately. */
  readonly hostIds: readonly string[];
}

/** How long a hub may be silent before its connections count as lost. */
const hubSilentMs = 15_000;

/** How long the addresses of a hub that is gone are kept. */
const hubForgottenMs = 7 * 86_400_000;

/** The hubs that share the database. */
export const hubTransactions = {
  /** Lists the hubs by address. */
  async "fleet.hubs"({ db, nowMs }: TransactionContext): Promise<readonly HubRecord[]> {
    const rows = await db
      .selectFrom("fleet_hubs")
      .selectAll()
      .orderBy("addresses_json")
      .orderBy("instance_id")
      .execute();
    return rows.map(({ instance_id, name, addresses_json, host_ids_json, seen_at }) => ({
      instanceId: instance_id,
      name,
      addresses: JSON.parse(addresses_json),
      hostIds: seen_at < nowMs - hubSilentMs ? [] : JSON.parse(host_ids_json),
    }));
  },

  /** Notes that a hub is alive, and what it reports. Forgets the earlier processes of that hub. */
  async "fleet.noteHub"(
    { db, nowMs, notify }: TransactionContext,
    { instanceId, name, addresses, hostIds }: HubRecord,
  ): Promise<void> {
    const values = {
      name,
      addresses_json: JSON.stringify(addresses),
      host_ids_json: JSON.stringify(hostIds),
    };
    const before = await db
      .selectFrom("fleet_hubs")
      .selectAll()
      .where("instance_id", "=", instanceId)
      .executeTakeFirst();
    await db
      .insertInto("fleet_hubs")
      .values({ instance_id: instanceId, ...values, seen_at: nowMs })
      .onConflict((conflict) => conflict.column("instance_id").doUpdateSet({ ...values, seen_at: nowMs }))
      .execute();
    const forgotten = await db
      .deleteFrom("fleet_hubs")
      .where("instance_id", "!=", instanceId)
      .where(({ eb, and, or }) =>
        or([
          eb("seen_at", "<", nowMs - hubForgottenMs),
          and([
            eb("seen_at", "<", nowMs - hubSilentMs),
            eb("name", "=", name),
            eb("addresses_json", "=", values.addresses_json),
          ]),
        ]),
      )
      .returning("instance_id")
      .execute();
    const isSame =
      before?.addresses_json === values.addresses_json && before.host_ids_json === values.host_ids_json;
    if (!isSame || forgotten.length > 0) {
      notify("hubs");
    }
  },
};
