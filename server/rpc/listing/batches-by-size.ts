/** The most that a batch holds. */
export interface BatchLimits {
  readonly items: number;
  readonly bytes: number;
}

/** Divides items into batches, in order. A batch may exceed its limit of bytes by its last item. Without items there is no batch. */
export function batchesBySize<Item>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
  limits: BatchLimits,
): Item[][] {
  const batches: Item[][] = [];
  let batch: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    if (batch.length === 0 || batch.length === limits.items || bytes >= limits.bytes) {
      batch = [];
      bytes = 0;
      batches.push(batch);
    }
    batch.push(item);
    bytes += sizeOf(item);
  }
  return batches;
}
