/** A pattern of resource names, which covers the resources that it matches and everything below them. */
export interface ResourcePattern {
  covers(resource: string): boolean;
  /** Reports whether it may cover something below the resource. */
  mayCoverBelow(resource: string): boolean;
}

/** Longest pattern, in characters. */
export const patternMaxLength = 256;

/** Returns why a text is not a pattern; undefined for a pattern. */
export function explainPattern(text: string): string | undefined {
  if (text.length > patternMaxLength) {
    return `expected at most ${patternMaxLength} characters`;
  }
  if (!/^[^/]+(\/[^/]+)*$/.test(text)) {
    return 'expected the name of a resource, such as volumeGroups/vg0/volumes/db-*, without "/" at its ends';
  }
  return /[\s?[\]{}()!\\\p{Cc}]/u.test(text)
    ? 'expected a name in which "*" is the only wildcard; it stands for any characters except "/"'
    : undefined;
}

/** Returns whether a text matches. Takes time in proportion to the length of the text, whatever the glob. */
type Glob = (text: string) => boolean;

/**
 * Parses a pattern.
 * @param text one that `explainPattern` accepts
 */
export function parseResourcePattern(text: string): ResourcePattern {
  const globs = text.split("/").map(globFrom);
  const matchesStart = (names: readonly string[], count: number) =>
    globs.slice(0, count).every((glob, index) => glob(names[index] ?? ""));
  return {
    covers(resource) {
      const names = resource.split("/");
      return names.length >= globs.length && matchesStart(names, globs.length);
    },
    mayCoverBelow(resource) {
      const names = resource.split("/");
      return names.length < globs.length && matchesStart(names, names.length);
    },
  };
}

/** Parses a glob: `*` stands for any characters. */
export function globFrom(glob: string): Glob {
  const [first = "", ...others] = glob.split("*");
  const last = others.pop();
  if (last === undefined) {
    return (text) => text === first;
  }
  return (text) => {
    let at = first.length;
    const end = text.length - last.length;
    if (end < at || !text.startsWith(first) || !text.endsWith(last)) {
      return false;
    }
    // The leftmost match of each part leaves most for the others, so no other needs to be tried.
    for (const part of others) {
      const found = text.indexOf(part, at);
      if (found === -1 || found + part.length > end) {
        return false;
      }
      at = found + part.length;
    }
    return true;
  };
}
