/** A JSON reply of the fake. */
export interface FakeAnswer {
  readonly status: number;
  readonly json: unknown;
}

/** An authenticated request. */
export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly body: string;
}

/** Returns an object of the API, or a Status. */
export function jsonAnswer(json: unknown, status = 200): FakeAnswer {
  return { status, json };
}

/** Returns a Status, Kubernetes' form of a failure. */
export function statusAnswer(
  code: number,
  reason: string,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): FakeAnswer {
  const extra = { ...(reason !== "" && { reason }), ...(details !== undefined && { details }) };
  return jsonAnswer(
    { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, ...extra, code },
    code,
  );
}

/**
 * Returns the API server's reply for a missing object.
 * @param kind the plural, e.g. `nodes`
 * @param group empty for the core group
 */
export function notFound(kind: string, name: string, group = ""): FakeAnswer {
  const resource = group === "" ? kind : `${kind}.${group}`;
  return statusAnswer(404, "NotFound", `${resource} "${name}" not found`, { name, kind });
}

/** Returns the API server's reply to a request that it cannot read. */
export function badRequest(message: string): FakeAnswer {
  return statusAnswer(400, "BadRequest", message);
}

export const pathMissing = statusAnswer(404, "NotFound", "the server could not find the requested resource");
export const methodMissing = statusAnswer(
  405,
  "MethodNotAllowed",
  "the server does not allow this method on the requested resource",
);
export const mediaTypeMissing = statusAnswer(415, "UnsupportedMediaType", "415: Unsupported Media Type");
export const unauthorized = statusAnswer(401, "Unauthorized", "Unauthorized");

/** The reply to every request while etcd has lost its quorum. */
export const timedOut = statusAnswer(500, "", "etcdserver: request timed out");

/** Parses the object in a body. */
export function objectFrom({ body }: FakeRequest): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return value !== null && typeof value === "object" && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
