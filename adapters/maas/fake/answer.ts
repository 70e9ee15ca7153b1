/** A reply of the fake: plain text, or a JSON value. */
export interface FakeAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly json?: unknown;
}

/** Returns a text reply as Django sends it. */
export function textAnswer(status: number, text: string): FakeAnswer {
  return { status, text, headers: { "content-type": "text/plain; charset=utf-8", vary: "Cookie" } };
}

/** Returns the reply to an invalid form. */
export function invalidAnswer(errors: Readonly<Record<string, readonly string[]>>): FakeAnswer {
  return { status: 400, json: errors, headers: { vary: "Cookie" } };
}

/** Returns the reply of a handler that succeeds with a value. */
export function jsonAnswer(json: unknown): FakeAnswer {
  return { status: 200, json, headers: known };
}

/** Headers of replies from a handler. */
const known = {
  vary: "Authorization, Cookie",
  "x-maas-api-hash": "29b8898cd6164c9b0adae16fe79c9932fe40e145",
};

export const deleted: FakeAnswer = {
  status: 204,
  text: "",
  headers: { ...known, "content-type": "text/plain" },
};

/** Reply for a machine that does not exist. */
export const machineMissing: FakeAnswer = {
  status: 404,
  text: "No Machine matches the given query.",
  headers: { ...known, "content-type": "text/plain" },
};

/** The account lacks the permission, or the machine is locked. */
export const forbidden: FakeAnswer = textAnswer(403, "");
