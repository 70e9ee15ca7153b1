/** What the fake answers: text as it is, or a value as JSON. */
export interface FakeAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly json?: unknown;
}

/** As Django sends it. */
export function textAnswer(status: number, text: string): FakeAnswer {
  return { status, text, headers: { "content-type": "text/plain; charset=utf-8", vary: "Cookie" } };
}

/** Of a form that is not valid. */
export function invalidAnswer(errors: Readonly<Record<string, readonly string[]>>): FakeAnswer {
  return { status: 400, json: errors, headers: { vary: "Cookie" } };
}

export function jsonAnswer(json: unknown): FakeAnswer {
  return { status: 200, json, headers: known };
}

/** Of what a handler has answered. */
const known = {
  vary: "Authorization, Cookie",
  "x-maas-api-hash": "29b8898cd6164c9b0adae16fe79c9932fe40e145",
};

export const deleted: FakeAnswer = {
  status: 204,
  text: "",
  headers: { ...known, "content-type": "text/plain" },
};

/** Of what is not there. */
export const machineMissing: FakeAnswer = {
  status: 404,
  text: "No Machine matches the given query.",
  headers: { ...known, "content-type": "text/plain" },
};

/** The account lacks the right, or the machine is locked. */
export const forbidden: FakeAnswer = textAnswer(403, "");
