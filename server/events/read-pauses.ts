/** Pauses between attempts to read events from a store that does not answer. */
export const readPauses = { firstMs: 100, longestMs: 5_000 };
