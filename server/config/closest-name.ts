/**
 * The name among `names` that `typed` was most likely meant to be, or undefined when none is near: at most a
 * third of its characters may differ. Case does not count.
 */
export function closestName(typed: string, names: readonly string[]): string | undefined {
  let best: { name: string; distance: number } | undefined;
  for (const name of names) {
    const distance = editDistance(typed.toLowerCase(), name.toLowerCase());
    if (distance <= Math.ceil(name.length / 3) && distance < (best?.distance ?? Infinity)) {
      best = { name, distance };
    }
  }
  return best?.name;
}

/** Levenshtein's distance, one row of the matrix at a time. */
function editDistance(a: string, b: string): number {
  // Nothing that long is near any key, and the work grows with the product of the lengths.
  if (a.length > 100) {
    return Infinity;
  }
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
