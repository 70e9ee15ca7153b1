import { sql } from "kysely";
import { sealHeadOf } from "../../crypto/seal.ts";
import type { TransactionContext } from "../../store/transaction.ts";
import { headOf, type SealedColumnName, sealedValueTransactions } from "./sealed-values.ts";

/** A gateway that shares the database. */
export interface KeyHolder {
  /** The process. */
  readonly instanceId: string;
  readonly host: string;
  /** Fingerprints of the keys that it has. */
  readonly keys: readonly string[];
  /** Fingerprint of the only key that it now encrypts with. */
  readonly sealsWith: string;
}

/** The master keys of the database. */
export interface StoredKeys {
  /** Fingerprint of the key in use. */
  readonly current: string;
  /** Replaced keys that secrets may still need. */
  readonly old: readonly { readonly fingerprint: string; readonly replacedAtMs: number }[];
  /** Identifies the store; it never changes. */
  readonly storeId: string;
  /** The gateways that were seen lately, by their ids. */
  readonly holders: readonly KeyHolder[];
}

/** Result of beginning a change. */
export type BegunChange =
  | { readonly ok: true }
  /** An earlier change has not ended. */
  | { readonly ok: false; readonly why: "running"; readonly old: readonly string[] }
  /** These gateways do not have the key. */
  | { readonly ok: false; readonly why: "notHeld"; readonly hosts: readonly string[] };

/** The master key in use, replaced ones, and who has which. */
const keyTransactions = {
  async "masterKeys.read"(
    context: TransactionContext,
    { silentMs }: { readonly silentMs: number },
  ): Promise<StoredKeys> {
    return readKeys(context, silentMs);
  },

  /** Notes that a gateway is alive, and its keys. Forgets silent gateways. @param args.wakes wake the others in any case */
  async "masterKeys.announce"(
    context: TransactionContext,
    args: { readonly holder: KeyHolder; readonly silentMs: number; readonly wakes: boolean },
  ): Promise<StoredKeys> {
    const { db, nowMs, notify } = context;
    const { instanceId, host, keys, sealsWith } = args.holder;
    const values = { host, keys_json: JSON.stringify(keys), seals_with: sealsWith };
    const before = await db
      .selectFrom("master_key_holders")
      .selectAll()
      .where("instance_id", "=", instanceId)
      .executeTakeFirst();
    await db
      .insertInto("master_key_holders")
      .values({ instance_id: instanceId, ...values, seen_at: nowMs })
      .onConflict((conflict) => conflict.column("instance_id").doUpdateSet({ ...values, seen_at: nowMs }))
      .execute();
    await db
      .deleteFrom("master_key_holders")
      .where("seen_at", "<", nowMs - args.silentMs)
      .execute();
    if (args.wakes || before?.keys_json !== values.keys_json || before.seals_with !== sealsWith) {
      notify("keys");
    }
    return readKeys(context, args.silentMs);
  },

  /** Forgets a gateway that stops. */
  async "masterKeys.leave"(
    { db, notify }: TransactionContext,
    { instanceId }: { readonly instanceId: string },
  ): Promise<void> {
    await db.deleteFrom("master_key_holders").where("instance_id", "=", instanceId).execute();
    notify("keys");
  },

  /** Puts a key into use, if every gateway has it. */
  async "masterKeys.begin"(
    context: TransactionContext,
    { fingerprint, silentMs }: { readonly fingerprint: string; readonly silentMs: number },
  ): Promise<BegunChange> {
    const { db, nowMs, notify } = context;
    const { current, old, holders } = await readKeys(context, silentMs);
    if (current === fingerprint) {
      return { ok: true };
    }
    if (old.length > 0) {
      return { ok: false, why: "running", old: old.map((each) => each.fingerprint) };
    }
    const without = holders.filter(({ keys }) => !keys.includes(fingerprint));
    if (without.length > 0) {
      return { ok: false, why: "notHeld", hosts: without.map(({ host }) => host) };
    }
    await db.updateTable("meta").set({ value: fingerprint }).where("name", "=", "key_check").execute();
    await db.insertInto("old_master_keys").values({ fingerprint: current, replaced_at: nowMs }).execute();
    notify("keys");
    return { ok: true };
  },

  /** Forgets a replaced key, unless secrets need it, or a gateway may still encrypt with it. `ok` reports whether it did. */
  async "masterKeys.forget"(
    context: TransactionContext,
    args: {
      readonly fingerprint: string;
      readonly of: readonly SealedColumnName[];
      readonly silentMs: number;
    },
  ): Promise<{ readonly ok: boolean }> {
    const { db, notify } = context;
    const { current, holders } = await readKeys(context, args.silentMs);
    if (holders.some(({ sealsWith }) => sealsWith !== current)) {
      return { ok: false };
    }
    for (const each of args.of) {
      const { rows } = await sql`
        select 1 from ${sql.table(each.table)}
        where length(${sql.ref(each.column)}) > 0 and ${headOf(each)} = ${sealHeadOf(args.fingerprint)} limit 1
      `.execute(db);
      if (rows.length > 0) {
        return { ok: false };
      }
    }
    await db.deleteFrom("old_master_keys").where("fingerprint", "=", args.fingerprint).execute();
    notify("keys");
    return { ok: true };
  },

  /** Stores the key of a digest, unless there is one; returns the stored one. */
  async "digestKeys.ensure"(
    { db }: TransactionContext,
    { name, sealed }: { readonly name: string; readonly sealed: Uint8Array },
  ): Promise<Uint8Array> {
    await db
      .insertInto("digest_keys")
      .values({ name, key_sealed: sealed })
      .onConflict((conflict) => conflict.column("name").doNothing())
      .execute();
    const row = await db
      .selectFrom("digest_keys")
      .select("key_sealed")
      .where("name", "=", name)
      .executeTakeFirstOrThrow();
    return new Uint8Array(row.key_sealed);
  },
};

async function readKeys({ db, nowMs }: TransactionContext, silentMs: number): Promise<StoredKeys> {
  const facts = await db
    .selectFrom("meta")
    .selectAll()
    .where("name", "in", ["key_check", "store_id"])
    .execute();
  const factOf = (wanted: string) => facts.find(({ name }) => name === wanted)?.value ?? "";
  const old = await db.selectFrom("old_master_keys").selectAll().orderBy("fingerprint").execute();
  const holders = await db
    .selectFrom("master_key_holders")
    .selectAll()
    .where("seen_at", ">=", nowMs - silentMs)
    .orderBy("instance_id")
    .execute();
  return {
    current: factOf("key_check"),
    old: old.map(({ fingerprint, replaced_at }) => ({ fingerprint, replacedAtMs: replaced_at })),
    storeId: factOf("store_id"),
    holders: holders.map(({ instance_id, host, keys_json, seals_with }) => ({
      instanceId: instance_id,
      host,
      keys: JSON.parse(keys_json),
      sealsWith: seals_with,
    })),
  };
}

export const masterKeyTransactions = { ...keyTransactions, ...sealedValueTransactions };

type MasterKeyTransactions = typeof masterKeyTransactions;

declare module "../../store/store.ts" {
  interface GatewayTransactions extends MasterKeyTransactions {}
}
