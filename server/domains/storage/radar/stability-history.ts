import type { CephSnapshot, CephState } from "../../../../adapters/ceph/adapter.ts";

/** What was seen in the last hour, and since when it was looked at. */
export interface SeenHour {
  /** Milliseconds since 1970. Less than an hour ago: nothing is known of the time before. */
  readonly sinceMs: number;
  /** How often an OSD went down. */
  readonly flapCount: number;
  /** The most at one moment: operations that were slow, and the share (0 to 1) of PGs that were recovering. */
  readonly slowOperationPeak: number;
  readonly recoveringSharePeak: number;
}

export interface StabilityHistory {
  /** To be told of each state that is read, and when readings begin to fail. Telling one twice changes nothing. */
  note(snapshot: CephSnapshot): void;
  lastHour(nowMs: number): SeenHour;
}

interface Seen {
  readonly flapCount: number;
  readonly slowOperationPeak: number;
  readonly recoveringSharePeak: number;
}

const minuteMs = 60_000;
const minuteCount = 60;
const nothing: Seen = { flapCount: 0, slowOperationPeak: 0, recoveringSharePeak: 0 };

/** Keeps the last hour of one cluster in memory, minute by minute. Another cluster under the same name begins anew. */
export function createStabilityHistory(): StabilityHistory {
  /** By minutes since 1970. */
  let minutes = new Map<number, Seen>();
  let beganMs: number | undefined;
  let fsid: string | undefined;
  let notedMs: number | undefined;
  /** What was true until the next reading; undefined while readings fail. */
  let lasting: Seen | undefined;
  /** `downAtEpoch` of each OSD. */
  let downEpochs: ReadonlyMap<number, number> = new Map();

  function add(atMs: number, seen: Seen): void {
    const minute = Math.floor(atMs / minuteMs);
    const before = minutes.get(minute) ?? nothing;
    minutes.set(minute, bothOf(before, seen));
    for (const old of minutes.keys()) {
      if (old < minute - minuteCount) {
        minutes.delete(old);
      }
    }
  }

  function countFlaps(state: CephState): number {
    if ("missing" in state.osds) {
      return 0;
    }
    const before = downEpochs;
    const { osds } = state.osds.ok;
    downEpochs = new Map(osds.map(({ id, downAtEpoch }) => [id, downAtEpoch]));
    // One that is made anew under an old number begins with smaller epochs.
    return osds.filter(({ id, downAtEpoch }) => downAtEpoch > (before.get(id) ?? downAtEpoch)).length;
  }

  return {
    note({ value, readAtMs, staleBecause }) {
      if (notedMs !== undefined && readAtMs <= notedMs) {
        lasting = staleBecause === undefined ? lasting : undefined;
        return;
      }
      notedMs = readAtMs;
      const atMs = Date.now() - (performance.now() - readAtMs);
      if (value.fsid !== fsid) {
        minutes = new Map();
        beganMs = atMs;
        fsid = value.fsid;
        lasting = undefined;
        downEpochs = new Map();
      }
      if (lasting !== undefined) {
        add(atMs, lasting);
      }
      const now = {
        slowOperationPeak: value.slowOperationCount,
        recoveringSharePeak: recoveringShare(value),
      };
      add(atMs, { ...now, flapCount: countFlaps(value) });
      lasting = staleBecause === undefined ? { ...now, flapCount: 0 } : undefined;
    },
    lastHour(nowMs) {
      const first = Math.floor(nowMs / minuteMs) - minuteCount;
      const seen = [...minutes].filter(([minute]) => minute >= first).map(([, each]) => each);
      return { sinceMs: Math.max(beganMs ?? nowMs, first * minuteMs), ...seen.reduce(bothOf, nothing) };
    },
  };
}

function bothOf(a: Seen, b: Seen): Seen {
  return {
    flapCount: a.flapCount + b.flapCount,
    slowOperationPeak: Math.max(a.slowOperationPeak, b.slowOperationPeak),
    recoveringSharePeak: Math.max(a.recoveringSharePeak, b.recoveringSharePeak),
  };
}

/** Of those that wait for it, too, or cannot for want of room. */
function recoveringShare({ pgs }: CephState): number {
  if ("missing" in pgs || pgs.ok.count === 0) {
    return 0;
  }
  const isRecovering = (state: string) =>
    state.split("+").some((word) => word.startsWith("recover") || word.startsWith("backfill"));
  const recovering = pgs.ok.states.filter(({ state }) => isRecovering(state));
  return Math.min(1, recovering.reduce((sum, { count }) => sum + count, 0) / pgs.ok.count);
}
