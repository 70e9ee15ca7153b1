/** What can be found, as `/docs/search.json` lists it (server/web/docs/search-index.ts). */
export type SearchEntry = readonly [kind: string, name: string, place: string, href: string, text: string];

/** Added to the rank, so that among equal names a service comes before its RPCs, and these before fields. */
const rankOfKind: Readonly<Record<string, number>> = {
  service: 9,
  RPC: 8,
  reason: 6,
  type: 5,
  field: 2,
  value: 1,
};

/**
 * Returns the entries that contain every word of the query in their name, place or text, the best first. A name that begins
 * with a word counts more than one that contains it, and that more than a text.
 */
export function findEntries(
  entries: readonly SearchEntry[],
  query: string,
  limit: number,
): readonly SearchEntry[] {
  const words = query
    .toLowerCase()
    .split(/[\s/]+/)
    .filter((word) => word !== "");
  if (words.length === 0) {
    return [];
  }
  return entries
    .flatMap((entry) => {
      const ranks = words.map((word) => rankOf(entry, word));
      const rank = ranks.reduce((sum, one) => sum + one, rankOfKind[entry[0]] ?? 0);
      return ranks.includes(0) ? [] : [{ entry, rank }];
    })
    .toSorted((a, b) => b.rank - a.rank || a.entry[1].length - b.entry[1].length)
    .slice(0, limit)
    .map(({ entry }) => entry);
}

/** Returns how well an entry matches a word in lower case; 0 if it does not. */
function rankOf([, name, place, , text]: SearchEntry, word: string): number {
  const lower = name.toLowerCase();
  if (lower === word || lower.endsWith(`.${word}`)) {
    return 70;
  }
  if (lower.startsWith(word)) {
    return 60;
  }
  const at = lower.indexOf(word);
  if (at >= 0) {
    return isWordStart(name, at) ? 40 : 25;
  }
  if (place.toLowerCase().includes(word)) {
    return 10;
  }
  return text.toLowerCase().includes(word) ? 4 : 0;
}

function isWordStart(name: string, at: number): boolean {
  return /[._]$/.test(name.slice(0, at)) || /^[A-Z]/.test(name.slice(at));
}
