/** A device that may be chosen. Candidates are in the order of the configuration; sizes are whole extents. */
export interface Candidate {
  readonly extents: number;
  /** Extents in use; 0 for a spare. */
  readonly usedExtents: number;
  /** Free extents that can take data from other devices while this one stays; by default all extents that are not in use. */
  readonly roomExtents?: number;
}

/** Up to this number of candidates, all sets are compared; beyond it, devices are dropped or added one at a time. */
export const maxComparedDevices = 20;

/**
 * Chooses the smallest set with at least `minExtents`: by extents, then by number of devices, then the first in order. With
 * more than `maxComparedDevices` candidates it chooses a set from which no device can be dropped, trying large devices first.
 * @returns indexes in order; undefined if all candidates together have less
 */
export function chooseGrowth(candidates: readonly Candidate[], minExtents: number): number[] | undefined {
  const all = candidates.map((_, index) => index);
  if (sum(candidates, all) < minExtents) {
    return undefined;
  }
  if (candidates.length > maxComparedDevices) {
    return bySize(candidates).reduce((kept, index) => {
      const less = kept.filter((one) => one !== index);
      return sum(candidates, less) >= minExtents ? less : kept;
    }, all);
  }
  let best: Choice | undefined;
  search(candidates, (choice) => {
    const isBetter =
      best === undefined ||
      choice.extents < best.extents ||
      (choice.extents === best.extents && choice.indexes.length < best.indexes.length);
    if (choice.extents >= minExtents && isBetter) {
      best = choice;
    }
    // Adding devices only makes the set larger.
    return choice.extents < minExtents;
  });
  return best?.indexes;
}

/**
 * Chooses the largest set with at most `maxExtents` whose data fits on the remaining devices: by extents, then the least data
 * to move, then the fewest devices, then the first in order. With more than `maxComparedDevices` candidates it chooses a set
 * to which no device can be added, trying large devices first.
 * @param roomExtents free extents on devices that stay in any case
 * @param canMove whether data can be moved at all; if not, only devices without data are chosen
 * @param mustKeepOne whether the pool has no other devices, so that one candidate has to stay
 * @returns indexes in order; empty if there is no such set
 */
export function chooseShrinkage(
  candidates: readonly Candidate[],
  maxExtents: number,
  limits: { readonly roomExtents: number; readonly canMove: boolean; readonly mustKeepOne: boolean },
): number[] {
  const { roomExtents, canMove, mustKeepOne } = limits;
  const allRoom = candidates.reduce((room, one) => room + roomOf(one), roomExtents);
  const fits = ({ indexes, extents, usedExtents, roomExtents: leaving }: Choice) =>
    extents <= maxExtents &&
    usedExtents <= allRoom - leaving &&
    (canMove || usedExtents === 0) &&
    !(mustKeepOne && indexes.length === candidates.length);
  if (candidates.length > maxComparedDevices) {
    const taken: number[] = [];
    for (const index of bySize(candidates)) {
      if (fits(choiceOf(candidates, [...taken, index]))) {
        taken.push(index);
      }
    }
    return taken.toSorted((a, b) => a - b);
  }
  let best: Choice = nothing;
  search(candidates, (choice) => {
    if (fits(choice) && compareShrinkage(choice, best) < 0) {
      best = choice;
    }
    return choice.extents < maxExtents;
  });
  return best.indexes;
}

interface Choice {
  readonly indexes: number[];
  readonly extents: number;
  readonly usedExtents: number;
  readonly roomExtents: number;
}

const nothing: Choice = { indexes: [], extents: 0, usedExtents: 0, roomExtents: 0 };

function compareShrinkage(a: Choice, b: Choice): number {
  return b.extents - a.extents || a.usedExtents - b.usedExtents || a.indexes.length - b.indexes.length;
}

/**
 * Visits every non-empty set, sets with earlier devices first.
 * @param visit returns whether to continue with larger sets that contain this one
 */
function search(candidates: readonly Candidate[], visit: (choice: Choice) => boolean): void {
  const extend = (choice: Choice, from: number): void => {
    for (const [offset, candidate] of candidates.slice(from).entries()) {
      const more = withOne(choice, candidate, from + offset);
      if (visit(more)) {
        extend(more, from + offset + 1);
      }
    }
  };
  extend(nothing, 0);
}

function choiceOf(candidates: readonly Candidate[], indexes: number[]): Choice {
  const total = (of: (candidate: Candidate) => number) =>
    candidates.reduce((sum, one, index) => sum + (indexes.includes(index) ? of(one) : 0), 0);
  return {
    indexes,
    extents: total(({ extents }) => extents),
    usedExtents: total(({ usedExtents }) => usedExtents),
    roomExtents: total(roomOf),
  };
}

function withOne(
  { indexes, extents, usedExtents, roomExtents }: Choice,
  one: Candidate,
  index: number,
): Choice {
  return {
    indexes: [...indexes, index],
    extents: extents + one.extents,
    usedExtents: usedExtents + one.usedExtents,
    roomExtents: roomExtents + roomOf(one),
  };
}

function roomOf({ extents, usedExtents, roomExtents = extents - usedExtents }: Candidate): number {
  return roomExtents;
}

function sum(candidates: readonly Candidate[], indexes: readonly number[]): number {
  return indexes.reduce((total, index) => total + (candidates[index]?.extents ?? 0), 0);
}

/** Returns the indexes, largest devices first. */
function bySize(candidates: readonly Candidate[]): number[] {
  const all = candidates.map((_, index) => index);
  return all.toSorted((a, b) => (candidates[b]?.extents ?? 0) - (candidates[a]?.extents ?? 0));
}
