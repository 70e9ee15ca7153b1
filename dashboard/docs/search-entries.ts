import type { SearchEntry } from "./find-entries.ts";

let loading: Promise<readonly SearchEntry[]> | undefined;

/**
 * Loads what can be found, on first use. After a failure the next call tries again.
 * @throws Error when the gateway cannot be reached or refuses
 */
export function loadSearchEntries(): Promise<readonly SearchEntry[]> {
  const known = loading ?? fetchEntries();
  loading = known;
  known.catch(() => {
    loading = undefined;
  });
  return known;
}

async function fetchEntries(): Promise<readonly SearchEntry[]> {
  const response = await fetch("/docs/search.json");
  if (!response.ok) {
    throw new Error(`HTTP ${response.status}`);
  }
  return (await response.json()) as readonly SearchEntry[];
}
