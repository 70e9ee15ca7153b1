import type { JsonObject } from "@bufbuild/protobuf";
import { type DocumentedMethod, takesIdempotencyKey } from "./documented-method.ts";

/** Returns the parameters for `#/components/parameters`. */
export function parameterComponents(maxDeadlineMs: number): JsonObject {
  return {
    IdempotencyKey: {
      name: "idempotency-key",
      in: "header",
      description:
        "Makes the call safe to repeat: while the key is stored, another call by the same caller with the same key and request gets the answer of the first. 1 to 255 visible ASCII characters.",
      schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x21-\\x7e]+$" },
    },
    TimeoutMs: {
      name: "connect-timeout-ms",
      in: "header",
      description: `Deadline of the call in milliseconds, at most ${maxDeadlineMs} for unary calls. A change that has begun continues after it.`,
      schema: { type: "integer", minimum: 1, maximum: 9_999_999_999 },
    },
    Session: {
      name: "hostplane-session",
      in: "header",
      description:
        "`cookie` returns the session as a cookie instead of a token, for pages of the gateway's own origin.",
      schema: { type: "string", enum: ["cookie"] },
    },
    LastEventId: {
      name: "Last-Event-ID",
      in: "header",
      description: "Id of the last event received; the stream continues after it.",
      schema: { type: "string" },
    },
    ConnectVersion: {
      name: "connect",
      in: "query",
      description: "Version of Connect's protocol.",
      schema: { type: "string", enum: ["v1"] },
    },
    Encoding: {
      name: "encoding",
      in: "query",
      required: true,
      description: "Encoding of `message`.",
      schema: { type: "string", enum: ["json"] },
    },
    StreamEncoding: {
      name: "encoding",
      in: "query",
      description: "Encoding of `message`; required with it.",
      schema: { type: "string", enum: ["json"] },
    },
  };
}

/** Returns a reference to a parameter of the components. */
export function parameterRef(name: string): JsonObject {
  return { $ref: `#/components/parameters/${name}` };
}

/** Returns the headers that a call of the method may have besides the credentials. */
export function headerParameters(documented: DocumentedMethod): JsonObject[] {
  const isLogin =
    documented.method.parent.typeName === "services.auth.AuthService" && documented.method.name === "Login";
  return [
    parameterRef("TimeoutMs"),
    ...(takesIdempotencyKey(documented) ? [parameterRef("IdempotencyKey")] : []),
    ...(isLogin ? [parameterRef("Session")] : []),
  ];
}
