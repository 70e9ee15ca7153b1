import { decodeText, type PathTemplate, type Segment } from "./path-template.ts";

/**
 * Returns the values of a template's variables in a path, by field path; undefined if the path does not match. A value of one
 * segment is decoded; in a value of several segments `%2F` is kept, because a slash separates them (google/api/http.proto). No
 * segment may be empty.
 * @param path of the request as sent, without the query
 */
export function matchPath(template: PathTemplate, path: string): ReadonlyMap<string, string> | undefined {
  const raw = rawSegmentsOf(template, path);
  if (raw === undefined) {
    return undefined;
  }
  const { segments } = template;
  const hasRest = segments.at(-1)?.kind === "rest";
  const fixedCount = hasRest ? segments.length - 1 : segments.length;
  if (hasRest ? raw.length < fixedCount : raw.length !== fixedCount) {
    return undefined;
  }
  const isMatch = raw.every((part, index) => isOf(segments[Math.min(index, segments.length - 1)], part));
  if (!isMatch) {
    return undefined;
  }
  const values = new Map<string, string>();
  for (const { fieldPath, from, to } of template.variables) {
    const isSingle = to - from === 1 && segments[from]?.kind !== "rest";
    const decode = isSingle ? decodeText : decodeAllButSlashes;
    const parts = raw.slice(from, segments[to - 1]?.kind === "rest" ? undefined : to);
    values.set(fieldPath, parts.map((part) => decode(part) ?? part).join("/"));
  }
  return values;
}

/** Returns the path's segments without the template's verb; undefined if the verb differs. */
function rawSegmentsOf({ verb, segments }: PathTemplate, path: string): readonly string[] | undefined {
  const raw = path.split("/").slice(1);
  if (verb === undefined) {
    return raw;
  }
  const last = raw.pop() ?? "";
  const colon = last.lastIndexOf(":");
  if (colon < 0 || decodeText(last.slice(colon + 1)) !== verb) {
    return undefined;
  }
  // `/v1/**:verb` also matches `/v1/:verb`.
  const isNothingLeft = colon === 0 && raw.length === segments.length - 1;
  return isNothingLeft ? raw : [...raw, last.slice(0, colon)];
}

function isOf(segment: Segment | undefined, raw: string): boolean {
  const text = decodeText(raw);
  return segment?.kind === "literal" ? text === segment.text : text !== undefined && text !== "";
}

function decodeAllButSlashes(raw: string): string {
  const parts = raw.split(/(%2f)/i);
  return parts.map((part, index) => (index % 2 === 1 ? part : decodeText(part))).join("");
}

/**
 * Orders templates so that the first match is the most specific: literal text before `*`, `*` before `**`, a verb before none.
 * Returns 0 if both match the same paths.
 */
export function compareTemplates(one: PathTemplate, other: PathTemplate): number {
  const count = Math.max(one.segments.length, other.segments.length);
  for (let index = 0; index < count; index++) {
    const [a, b] = [one.segments[index], other.segments[index]];
    const byKind = rankOf(a) - rankOf(b);
    if (byKind !== 0) {
      return byKind;
    }
    if (a?.kind === "literal" && b?.kind === "literal" && a.text !== b.text) {
      return a.text < b.text ? -1 : 1;
    }
  }
  const [verb = "", otherVerb = ""] = [one.verb, other.verb];
  // The empty one last.
  return verb === otherVerb ? 0 : verb > otherVerb ? -1 : 1;
}

/** Rank of the end of a template: `/v1` is more specific than `/v1/**`. */
const endRank = -1;

function rankOf(segment: Segment | undefined): number {
  return segment === undefined ? endRank : ["literal", "one", "rest"].indexOf(segment.kind);
}
