import { appendEvents } from "../../events/store/events.ts";
import type { DryRun, TransactionContext } from "../../store/transaction.ts";
import { fleetEvent } from "./fleet-event.ts";

/** A join token to create. */
export interface NewJoinToken {
  readonly codeHash: Uint8Array;
  /** The name that the host gets; null: the one that it asks for. */
  readonly host: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdBy: string;
  readonly lifetimeMs: number;
}

/** The host that has joined, or the reason for the refusal. */
export type RedeemedToken =
  | { readonly ok: true; readonly name: string }
  | { readonly ok: false; readonly why: "unknown" | "used" | "expired" | "exists" };

/** How long a token stays as a row after it has expired, for clear errors. */
const keptMs = 7 * 86_400_000;

/** Tokens with which hosts join. */
export const tokenTransactions = {
  async "fleet.createToken"(
    { db, nowMs }: TransactionContext,
    { codeHash, host, labels, createdBy, lifetimeMs, dryRun }: NewJoinToken & DryRun,
  ): Promise<{ readonly expiresAtMs: number }> {
    const expiresAtMs = nowMs + lifetimeMs;
    if (dryRun === true) {
      return { expiresAtMs };
    }
    await db
      .deleteFrom("fleet_tokens")
      .where("expires_at", "<", nowMs - keptMs)
      .execute();
    const labelsJson = JSON.stringify(labels);
    await db
      .insertInto("fleet_tokens")
      .values({
        code_hash: codeHash,
        host,
        labels_json: labelsJson,
        created_by: createdBy,
        created_at: nowMs,
        expires_at: expiresAtMs,
        used_at: null,
      })
      .execute();
    return { expiresAtMs };
  },

  /**
   * Uses up a token, and adds its host. A token with a name is only good for that name. The host that has used a token gets the
   * same answer again until the token expires, because its first answer may have been lost.
   * @param name the name that the host asks for
   * @param id the ID of the host: that of the same host whenever it repeats its request
   */
  async "fleet.redeemToken"(
    context: TransactionContext,
    args: {
      readonly codeHash: Uint8Array;
      readonly name: string;
      readonly id: string;
      readonly certificateExpiresAtMs: number;
    },
  ): Promise<RedeemedToken> {
    const { db, nowMs, notify, lockEvents } = context;
    await lockEvents();
    const token = await db
      .selectFrom("fleet_tokens")
      .selectAll()
      .where("code_hash", "=", args.codeHash)
      .executeTakeFirst();
    if (token === undefined) {
      return { ok: false, why: "unknown" };
    }
    if (token.expires_at <= nowMs) {
      return { ok: false, why: token.used_at === null ? "expired" : "used" };
    }
    if (token.used_at !== null) {
      const joined = await db
        .selectFrom("fleet_hosts")
        .select("name")
        .where("id", "=", args.id)
        .executeTakeFirst();
      return joined === undefined ? { ok: false, why: "used" } : { ok: true, name: joined.name };
    }
    const name = token.host ?? args.name;
    const existing = await db
      .selectFrom("fleet_hosts")
      .select("name")
      .where("name", "=", name)
      .executeTakeFirst();
    if (existing !== undefined) {
      return { ok: false, why: "exists" };
    }
    await db
      .updateTable("fleet_tokens")
      .set({ used_at: nowMs })
      .where("code_hash", "=", args.codeHash)
      .execute();
    await db
      .insertInto("fleet_hosts")
      .values({
        name,
        id: args.id,
        labels_json: token.labels_json,
        joined_at: nowMs,
        certificate_expires_at: args.certificateExpiresAtMs,
        last_seen_at: null,
        report_json: null,
        revision: 0,
      })
      .execute();
    await appendEvents(context, [fleetEvent("joined", name)]);
    notify("fleet");
    return { ok: true, name };
  },
};
