/** A part of a path between two slashes: literal text, exactly one segment (`*`), or all that is left (`**`). */
export type Segment =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "one" }
  | { readonly kind: "rest" };

/** Where the path holds the value of a field. */
export interface Variable {
  /** As the template writes it, e.g. `book.name`. */
  readonly fieldPath: string;
  /** The first of its segments, and the first behind them; a last `**` counts as one. */
  readonly from: number;
  readonly to: number;
}

/** The path of a route, as google/api/http.proto writes it. */
export interface PathTemplate {
  readonly text: string;
  readonly segments: readonly Segment[];
  readonly variables: readonly Variable[];
  /** What stands behind the last segment's colon. */
  readonly verb: string | undefined;
}

/** RFC 3986's pchar without what means something in a template: `:`, `*` and `=`. */
const literal = /^(?:[\w.~!$&'()+,;@-]|%[0-9A-Fa-f]{2})+$/;
const fieldPath = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;
/** A segment of the template, with the slashes that stand in braces. */
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
      fail("nothing can come behind **");
    }
    if (part === "*" || part === "**") {
      segments.push({ kind: part === "*" ? "one" : "rest" });
      return;
    }
    const decoded = literal.test(part) ? decodeText(part) : undefined;
    segments.push({ kind: "literal", text: decoded ?? fail(`${part || "an empty segment"} is no segment`) });
  }

  function addVariable(inner: string): void {
    const [name = "", ...patterns] = inner.split("=");
    if (!fieldPath.test(name) || patterns.length > 1) {
      fail(`{${inner}} is no variable`);
    }
    if (variables.some((one) => one.fieldPath === name)) {
      fail(`${name} has two places`);
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
      return fail(`there is no segment at ${at}`);
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
  const verb = isVerb ? verbText && decodeText(verbText) : fail(`:${verbText} is no verb`);
  return { text, segments, variables, verb };
}

/** What percent-encoded text stands for; undefined where that is no UTF-8. */
export function decodeText(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
