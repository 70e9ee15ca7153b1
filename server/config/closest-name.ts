/**
 * Returns the name in `names` that `typed` most likely means, ignoring case, or undefined if none is close: at most a third of
 * the name's characters may differ.
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

/** Returns the Levenshtein distance, computed one row of the matrix at a time. */
function editDistance(a: string, b: string): number {
  // No key is close to a text that long, and the work grows with the product of the lengths.
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
