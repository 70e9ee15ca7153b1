import type { CephSnapshot, CephState } from "../../../../adapters/ceph/adapter.ts";

/** Observations of the last hour, and when they began. */
export interface SeenHour {
  /** Milliseconds since the Unix epoch. If this is less than an hour ago, nothing is known about the time before. */
  readonly sinceMs: number;
  /** Number of times that an OSD went down. */
  readonly flapCount: number;
  /** Peaks: the number of slow operations, and the share (0 to 1) of PGs that were recovering. */
  readonly slowOperationPeak: number;
  readonly recoveringSharePeak: number;
}

export interface StabilityHistory {
  /** Records a snapshot; call it for each state that is read, and when reads begin to fail. Repeated calls have no effect. */
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

/** Creates a history of one cluster's last hour, kept in memory per minute. It starts over if the fsid changes. */
export function createStabilityHistory(): StabilityHistory {
  /** By minutes since the Unix epoch. */
  let minutes = new Map<number, Seen>();
  let beganMs: number | undefined;
  let fsid: string | undefined;
  let notedMs: number | undefined;
  /** Values that hold until the next read; undefined while reads fail. */
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
    // An OSD that is re-created under an old id begins with smaller epochs.
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

/** Returns the share of PGs that are recovering, including those that wait for it or lack the space for it. */
function recoveringShare({ pgs }: CephState): number {
  if ("missing" in pgs || pgs.ok.count === 0) {
    return 0;
  }
  const isRecovering = (state: string) =>
    state.split("+").some((word) => word.startsWith("recover") || word.startsWith("backfill"));
  const recovering = pgs.ok.states.filter(({ state }) => isRecovering(state));
  return Math.min(1, recovering.reduce((sum, { count }) => sum + count, 0) / pgs.ok.count);
}
