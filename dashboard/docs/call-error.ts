/** An error of a call, as Connect writes it in JSON. */
export interface CallError {
  readonly code: string;
  readonly message: string;
  /** Reason from the table in `/docs/errors`; empty if the error does not come from the gateway. */
  readonly reason: string;
}

interface ConnectErrorBody {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly details?: readonly { readonly debug?: { readonly reason?: unknown } }[];
}

/** Reads the error from a body in JSON. Anything else, such as a proxy's page, becomes an error without a reason. */
export function parseCallError(text: string, httpStatus: number): CallError {
  const body = parseBody(text);
  if (typeof body?.code !== "string") {
    return { code: `HTTP ${httpStatus}`, message: text.trim().slice(0, 500), reason: "" };
  }
  const reason = body.details?.map(({ debug }) => debug?.reason).find((one) => typeof one === "string");
  return { code: body.code.toUpperCase(), message: String(body.message ?? ""), reason: reason ?? "" };
}

function parseBody(text: string): ConnectErrorBody | undefined {
  try {
    return JSON.parse(text) as ConnectErrorBody;
  } catch {
    return undefined;
  }
}
