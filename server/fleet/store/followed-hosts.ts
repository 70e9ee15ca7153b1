import { appendEvents, type NewEvent } from "../../events/store/events.ts";
import type { TransactionContext } from "../../store/transaction.ts";
import type { CertifiedHost } from "../authority/issue-certificate.ts";
import { fleetEvent } from "./fleet-event.ts";

/** How far the events of a host are merged. */
export interface MergedUpTo {
  /** The host's cursor; empty before the host was first followed. */
  readonly cursor: string;
  /** Undefined before the first time. */
  readonly mergedAtMs: number | undefined;
}

/** A hub that follows a host. */
export interface HostFollower {
  readonly hostId: string;
  /** ID of the process of the hub. */
  readonly owner: string;
}

/** The hosts whose events a hub follows. One hub follows each host at a time. */
export const followedHostTransactions = {
  /**
   * Lets a hub follow a host that is connected to it, unless another hub does. Appends `host.back` if the host was lost.
   * @returns undefined if another hub follows the host, or the fleet no longer has it
   */
  async "fleet.claimHost"(
    context: TransactionContext,
    { host, owner, leaseMs }: { host: CertifiedHost; owner: string; leaseMs: number },
  ): Promise<MergedUpTo | undefined> {
    const { db, nowMs, lockEvents } = context;
    await lockEvents();
    const member = await db
      .selectFrom("fleet_hosts")
      .select("id")
      .where("name", "=", host.name)
      .where("id", "=", host.id)
      .executeTakeFirst();
    const row = await db
      .selectFrom("fleet_followed_hosts")
      .selectAll()
      .where("host_id", "=", host.id)
      .executeTakeFirst();
    const isTaken = row !== undefined && row.owner !== "" && row.owner !== owner && row.lease_until > nowMs;
    if (member === undefined || isTaken) {
      return undefined;
    }
    const claim = { owner, lease_until: nowMs + leaseMs, is_lost: 0 };
    await db
      .insertInto("fleet_followed_hosts")
      .values({ host_id: host.id, host: host.name, cursor: "", merged_at: null, ...claim })
      .onConflict((conflict) => conflict.column("host_id").doUpdateSet(claim))
      .execute();
    if (row?.is_lost === 1) {
      await appendEvents(context, [fleetEvent("back", host.name)]);
    }
    return { cursor: row?.cursor ?? "", mergedAtMs: row?.merged_at ?? undefined };
  },

  /**
   * Appends events of a host together with its cursor after them.
   * @param before the cursor that the events follow
   * @returns whether they were appended: false if the stored cursor is another one, or the hub no longer follows the host
   */
  async "fleet.mergeEvents"(
    context: TransactionContext,
    args: HostFollower & { before: string; cursor: string; events: readonly NewEvent[] },
  ): Promise<boolean> {
    const { db, nowMs, lockEvents } = context;
    await lockEvents();
    const moved = await db
      .updateTable("fleet_followed_hosts")
      .set({ cursor: args.cursor, merged_at: nowMs })
      .where("host_id", "=", args.hostId)
      .where("owner", "=", args.owner)
      .where("cursor", "=", args.before)
      .returning("host_id")
      .execute();
    if (moved.length === 0) {
      return false;
    }
    await appendEvents(context, args.events);
    return true;
  },

  /** Lets other hubs follow a host, because the hub has lost its connection. */
  async "fleet.releaseHost"(
    { db, nowMs }: TransactionContext,
    { hostId, owner }: HostFollower,
  ): Promise<void> {
    await db
      .updateTable("fleet_followed_hosts")
      .set({ owner: "", lease_until: nowMs })
      .where("host_id", "=", hostId)
      .where("owner", "=", owner)
      .execute();
  },

  /**
   * Extends the leases of a hub, and appends `host.lost` for each host that no hub has followed for a while. Appends `host.back`
   * for a host of this hub that was lost because the hub could not extend its lease.
   * @param graceMs how long a host may be away before it is lost
   */
  async "fleet.tendHosts"(
    context: TransactionContext,
    args: { owner: string; hostIds: readonly string[]; leaseMs: number; graceMs: number },
  ): Promise<void> {
    const { db, nowMs, lockEvents } = context;
    await lockEvents();
    if (args.hostIds.length > 0) {
      const own = db
        .updateTable("fleet_followed_hosts")
        .where("owner", "=", args.owner)
        .where("host_id", "in", args.hostIds);
      await own.set({ lease_until: nowMs + args.leaseMs }).execute();
      const back = await own.set({ is_lost: 0 }).where("is_lost", "=", 1).returning("host").execute();
      await appendEvents(
        context,
        back.map(({ host }) => fleetEvent("back", host)),
      );
    }
    const lost = await db
      .updateTable("fleet_followed_hosts")
      .set({ is_lost: 1 })
      .where("is_lost", "=", 0)
      .where("lease_until", "<", nowMs - args.graceMs)
      .returning("host")
      .execute();
    await appendEvents(
      context,
      lost.map(({ host }) => fleetEvent("lost", host)),
    );
  },
};
