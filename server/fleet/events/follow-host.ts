import { setTimeout as delay } from "node:timers/promises";
import { ConnectError } from "@connectrpc/connect";
import { backOffMs } from "../../../adapters/host/back-off.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { EventService, type FollowEventsResponse } from "../../../gen/hostplane/v1/event_pb.ts";
import { cursorMaxLength } from "../../events/cursor.ts";
import { followedMessageBytes } from "../../events/followed-limits.ts";
import { eventReasons } from "../../events/reasons.ts";
import type { NewEvent } from "../../events/store/events.ts";
import type { Store } from "../../store/store.ts";
import type { CertifiedHost } from "../authority/issue-certificate.ts";
import { hubAsCaller } from "../caller/hub-as-caller.ts";
import { badAnswer } from "../forward/answer-headers.ts";
import { createHostClient } from "../hub/host-client.ts";
import type { HostLink } from "../links/host-link.ts";
import type { MergedUpTo } from "../store/followed-hosts.ts";
import type { EventBudget } from "./event-budget.ts";
import { hostGapEvent, mergedEventFrom } from "./merged-event.ts";
import { resumeAfterGap } from "./resume-after-gap.ts";

export interface FollowHostOptions {
  readonly link: HostLink;
  readonly host: CertifiedHost;
  /** Name of this hub, for people. */
  readonly hub: string;
  /** ID of this process. */
  readonly owner: string;
  readonly store: Pick<Store, "run">;
  readonly budget: EventBudget;
  readonly leaseMs: number;
  /** Called for the first of consecutive failures. */
  readonly onFailed: (error: unknown) => void;
}

/** How often a hub checks whether the hub that follows a host still does. */
const claimEveryMs = 2000;
const pauses = { firstMs: 250, longestMs: 10_000 };

/** A connection that has lasted this long was no failure. */
const lastedMs = 10_000;

/** Memory and space that an event takes beside its text, in bytes. */
const eventBytes = 512;

/**
 * Follows the events of a host on its connection, and appends them to the hub's log, each batch in one transaction with the
 * host's cursor. While another hub follows the host, it waits. Resolves when the signal is aborted.
 */
export async function followHost(options: FollowHostOptions, signal: AbortSignal): Promise<void> {
  const { host, owner, store, leaseMs, onFailed } = options;
  const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => undefined);
  let failures = 0;
  while (!signal.aborted) {
    const beganAtMs = performance.now();
    try {
      const upTo = await store.run("fleet.claimHost", { host, owner, leaseMs });
      if (upTo === undefined) {
        await pause(claimEveryMs);
      } else {
        await mergeFrom(upTo, options, signal);
      }
    } catch (error) {
      if (signal.aborted) {
        break;
      }
      failures = performance.now() - beganAtMs > lastedMs ? 1 : failures + 1;
      if (failures === 1) {
        onFailed(error);
      }
      await pause(backOffMs(failures, pauses));
    }
  }
  await store.run("fleet.releaseHost", { hostId: host.id, owner }).catch(() => undefined);
}

/** Merges events until another hub has taken over. @throws the reason of the stream's end, and STORE_UNAVAILABLE */
async function mergeFrom(upTo: MergedUpTo, options: FollowHostOptions, signal: AbortSignal): Promise<void> {
  const { host, owner, store, budget } = options;
  let before = upTo.cursor;

  /** @returns whether this hub still follows the host */
  async function merge(events: readonly NewEvent[], cursor: string): Promise<boolean> {
    // All of it: names of services and of the resource can take more than the details.
    const sizes = events.map((event) => eventBytes + Buffer.byteLength(JSON.stringify(event)));
    await budget.take(
      sizes.reduce((sum, size) => sum + size, eventBytes),
      signal,
    );
    const isMerged = await store.run("fleet.mergeEvents", { hostId: host.id, owner, before, cursor, events });
    before = cursor;
    return isMerged;
  }

  for await (const { events, cursor } of eventsFrom(upTo, options, signal)) {
    if (cursor !== before && !(await merge(events, cursor))) {
      return;
    }
  }
}

interface HostEvents {
  readonly events: readonly NewEvent[];
  /** The host's cursor after them. */
  readonly cursor: string;
}

/** Yields the events of a host after a cursor. A period whose events the host no longer has is reported by an event of its own. */
async function* eventsFrom(
  upTo: MergedUpTo,
  options: FollowHostOptions,
  signal: AbortSignal,
): AsyncGenerator<HostEvents, void> {
  const { name } = options.host;
  try {
    yield* readHost(upTo.cursor, options, signal);
  } catch (error) {
    const gone = historyGone(error);
    if (gone === undefined) {
      throw error;
    }
    const reason = `host ${name} no longer has the events after those that the hub has merged`;
    const gap = hostGapEvent(name, { fromMs: upTo.mergedAtMs, toMs: Date.now(), reason });
    const from = resumeAfterGap(upTo.cursor, gone.oldestCursor);
    let gaps = [gap];
    for await (const { events, cursor } of readHost(from, options, signal)) {
      yield { events: [...gaps, ...events], cursor };
      gaps = [];
    }
  }
}

async function* readHost(
  cursor: string,
  { link, host, hub }: FollowHostOptions,
  signal: AbortSignal,
): AsyncGenerator<HostEvents, void> {
  const client = createHostClient(link, EventService, hubAsCaller(hub), followedMessageBytes);
  for await (const batch of client.followEvents({ cursor }, { signal })) {
    yield hostEventsFrom(batch, host.name);
  }
  throw badAnswer(host.name, "the stream of its events has ended");
}

/** Converts a batch. Events that the hub does not accept become a gap. */
function hostEventsFrom({ events: batch, cursor }: FollowEventsResponse, host: string): HostEvents {
  const events: NewEvent[] = [];
  const problems: string[] = [];
  for (const followed of batch) {
    const event = mergedEventFrom(followed, host);
    if (typeof event === "string") {
      problems.push(event);
    } else {
      events.push(event);
    }
  }
  if (problems.length > 0) {
    const reason = `the hub has not accepted ${problems.length} events of host ${host}; of the first one, ${problems[0]}`;
    const nowMs = Date.now();
    events.push(hostGapEvent(host, { fromMs: nowMs, toMs: nowMs, reason }));
  }
  if (cursor === "" || cursor.length > cursorMaxLength) {
    throw badAnswer(host, `a cursor of ${cursor.length} characters; expected 1 to ${cursorMaxLength}`);
  }
  return { events, cursor };
}

/** The host rejects a cursor of a store that it no longer has. */
const goneReasons: readonly string[] = [eventReasons.HISTORY_GONE.id, hostReasons.INVALID_FIELD.id];

function historyGone(error: unknown): { readonly oldestCursor: string | undefined } | undefined {
  const info = error instanceof ConnectError ? error.findDetails(ErrorInfoSchema)[0] : undefined;
  return info !== undefined && goneReasons.includes(info.reason)
    ? { oldestCursor: info.metadata.oldestCursor }
    : undefined;
}
