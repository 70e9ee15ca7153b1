/**
 * Returns a function that reports whether a name matches one of the patterns.
 * @param patterns names in which `*` stands for any characters and `?` for one
 */
export function createNameMatch(patterns: readonly string[]): (name: string) => boolean {
  const expressions = patterns.map((pattern) => {
    const source = pattern
      .replace(/[.+^${}()|[\]\\]/g, "\\$&")
      .replaceAll("*", ".*")
      .replaceAll("?", ".");
    return new RegExp(`^${source}$`, "s");
  });
  return (name) => expressions.some((expression) => expression.test(name));
}
