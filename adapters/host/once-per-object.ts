/**
 * Returns a function that calls `make` once for each object, and returns the same result again for as long as the object lives.
 * Neither the object nor the result may be modified.
 */
export function oncePerObject<Source extends object, Result>(
  make: (source: Source) => Result,
): (source: Source) => Result {
  const results = new WeakMap<Source, Result>();
  return (source) => {
    const kept = results.get(source);
    if (kept !== undefined) {
      return kept;
    }
    const result = make(source);
    results.set(source, result);
    return result;
  };
}
