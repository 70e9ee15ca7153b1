/** The part of a path between two slashes: literal text, exactly one segment (`*`), or the rest (`**`). */
export type Segment =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "one" }
  | { readonly kind: "rest" };

/** Position of a field's value in the path. */
export interface Variable {
  /** As in the template, e.g. `book.name`. */
  readonly fieldPath: string;
  /** Its first segment, and the first one after it. A final `**` counts as one. */
  readonly from: number;
  readonly to: number;
}

/** The path of a route, in the syntax of google/api/http.proto. */
export interface PathTemplate {
  readonly text: string;
  readonly segments: readonly Segment[];
  readonly variables: readonly Variable[];
  /** The text after the last segment's colon. */
  readonly verb: string | undefined;
}

/** RFC 3986's pchar without the characters that are special in a template: `:`, `*` and `=`. */
const literal = /^(?:[\w.~!$&'()+,;@-]|%[0-9A-Fa-f]{2})+$/;
const fieldPath = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;
/** A segment of the template, including slashes in braces. */
const segmentText = /(?:[^/{}]|\{[^{}]*\})+/y;

/**
 * Parses a path template:
 *
 *     Template = "/" Segments [ Verb ] ;
 *     Segments = Segment { "/" Segment } ;
 *     Segment  = "*" | "**" | LITERAL | Variable ;
 *     Variable = "{" FieldPath [ "=" Segments ] "}" ;
 *     FieldPath = IDENT { "." IDENT } ;
 *     Verb     = ":" LITERAL ;
 *
 * `**` is the last segment or none, a variable holds no other, and no field has two.
 * @throws TypeError that says what is wrong with it
 */
export function parsePathTemplate(text: string): PathTemplate {
  const segments: Segment[] = [];
  const variables: Variable[] = [];
  const fail = (what: string): never => {
    throw new TypeError(`the path template ${text}: ${what}`);
  };

  function addPlain(part: string): void {
    if (segments.at(-1)?.kind === "rest") {
      fail("nothing can follow **");
    }
    if (part === "*" || part === "**") {
      segments.push({ kind: part === "*" ? "one" : "rest" });
      return;
    }
    const decoded = literal.test(part) ? decodeText(part) : undefined;
    segments.push({
      kind: "literal",
      text: decoded ?? fail(`${part || "an empty segment"} is not a segment`),
    });
  }

  function addVariable(inner: string): void {
    const [name = "", ...patterns] = inner.split("=");
    if (!fieldPath.test(name) || patterns.length > 1) {
      fail(`{${inner}} is not a variable`);
    }
    if (variables.some((one) => one.fieldPath === name)) {
      fail(`${name} occurs twice`);
    }
    const from = segments.length;
    for (const part of (patterns[0] ?? "*").split("/")) {
      addPlain(part);
    }
    variables.push({ fieldPath: name, from, to: segments.length });
  }

  const [, path = "", verbText] = /^(.*?)(?::([^/{}:]*))?$/s.exec(text) ?? [];
  let at = 0;
  do {
    segmentText.lastIndex = at + 1;
    const part = path[at] === "/" ? segmentText.exec(path)?.[0] : undefined;
    if (part === undefined) {
      return fail(`expected a segment at ${at}`);
    }
    const inner = /^\{(.*)\}$/s.exec(part)?.[1];
    if (inner === undefined) {
      addPlain(part);
    } else {
      addVariable(inner);
    }
    at += 1 + part.length;
  } while (at < path.length);
  const isVerb = verbText === undefined || literal.test(verbText);
  const verb = isVerb ? verbText && decodeText(verbText) : fail(`:${verbText} is not a verb`);
  return { text, segments, variables, verb };
}

/** Decodes percent-encoded text; undefined if it is not UTF-8. */
export function decodeText(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
