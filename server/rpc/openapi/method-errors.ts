import type { ReasonName } from "../../../adapters/host/reasons.ts";
import { methodPathOf } from "../call/method-rule.ts";
import type { CommentOf } from "./contract-comments.ts";
import { type DocumentedMethod, takesIdempotencyKey } from "./documented-method.ts";
import { domainReasons } from "./domain-reasons.ts";
import { type ErrorRow, errorRows, reasonsNamedIn } from "./error-table.ts";

/** Reasons that any call can return. */
const everyCall: ReadonlySet<ReasonName> = new Set<ReasonName>([
  "MALFORMED_REQUEST",
  "INVALID_FIELD",
  "UNKNOWN_HEADER",
  "UNSUPPORTED_COMPRESSION",
  "COMPRESSION_NOT_NAMED",
  "REQUEST_CARDINALITY",
  "MESSAGE_TOO_LARGE",
  "SERVICE_NOT_ON_LISTENER",
  "HOST_NOT_ALLOWED",
  "ORIGIN_NOT_ALLOWED",
  "FORWARDED_NOT_ALLOWED",
  "CALLER_LIMIT",
  "DEADLINE",
  "CALLER_LEFT",
  "SHUTTING_DOWN",
  "INTERNAL",
]);

const credentials: readonly ReasonName[] = [
  "LOGIN_REQUIRED",
  "TOKEN_INVALID",
  "TOKEN_EXPIRED",
  "TOKEN_REVOKED",
  "CERTIFICATE_UNKNOWN",
];
const store: readonly ReasonName[] = ["STORE_UNAVAILABLE", "STORE_DAMAGED"];
const password: readonly ReasonName[] = ["INVALID_CREDENTIALS", "TOO_MANY_LOGINS", "BUSY"];

/** Reasons of methods that follow from neither rule nor domain. */
const reasonsByMethod: Readonly<Record<string, readonly ReasonName[]>> = {
  "services.auth.AuthService/Login": password,
  "hostplane.v1.UserService/ChangePassword": [...password, "USER_NOT_FOUND"],
  "hostplane.v1.UserService/CreateUser": ["USER_EXISTS", "CERTIFICATE_NAME_TAKEN", "BUSY"],
  "hostplane.v1.UserService/UpdateUser": ["USER_NOT_FOUND", "LAST_ADMIN", "CERTIFICATE_NAME_TAKEN"],
  "hostplane.v1.UserService/DeleteUser": ["USER_NOT_FOUND", "LAST_ADMIN"],
  "hostplane.v1.UserService/SetPassword": ["USER_NOT_FOUND", "BUSY"],
  "hostplane.v1.UserService/CreateApiToken": ["API_TOKEN_EXISTS"],
  "hostplane.v1.UserService/RevokeApiToken": ["API_TOKEN_NOT_FOUND"],
  "hostplane.v1.StorageService/ListCrashes": ["CRASH_NOT_FOUND"],
};

/** The errors that every call can return, in the order of the table. */
export const errorsOfEveryCall: readonly ErrorRow[] = errorRows.filter(({ reason }) => everyCall.has(reason));

/**
 * Returns the other errors of the method, in the order of the table. They follow from the role it needs, whether it changes
 * something and can be repeated, the systems of its domain, and the reasons that its comments name.
 * @throws TypeError for a domain that has no row
 */
export function ownErrorsOf(documented: DocumentedMethod, commentOf: CommentOf): readonly ErrorRow[] {
  const reasons = new Set([
    ...reasonsByRule(documented),
    ...domainReasons(documented.rule.domain, documented.rule.mutation),
    ...(reasonsByMethod[methodPathOf(documented.method)] ?? []),
    ...reasonsNamedIn(commentsOf(documented, commentOf)).map(({ reason }) => reason),
  ]);
  return errorRows.filter(({ reason }) => reasons.has(reason) && !everyCall.has(reason));
}

function reasonsByRule(documented: DocumentedMethod): readonly ReasonName[] {
  const { method, rule } = documented;
  const needsLogin = rule.role !== "anyone";
  return [
    ...(needsLogin ? credentials : []),
    ...(needsLogin || rule.domain === "auth" ? store : []),
    ...(needsLogin && rule.role !== "viewer" ? (["ROLE_REQUIRED"] as const) : []),
    ...(needsLogin && !rule.ofEveryService ? (["SERVICE_NOT_ALLOWED"] as const) : []),
    ...(rule.mutation ? (["UNKNOWN_FIELD"] as const) : []),
    ...(takesIdempotencyKey(documented)
      ? (["IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_OUTCOME_UNKNOWN"] as const)
      : []),
    ...(rule.mutation && rule.secretAnswer ? (["IDEMPOTENCY_KEY_NOT_TAKEN"] as const) : []),
    ...(rule.mutation && method.methodKind !== "unary" ? (["NOT_BUILT"] as const) : []),
  ];
}

function commentsOf({ method }: DocumentedMethod, commentOf: CommentOf): string {
  const messages = [method.input, method.output];
  const ofMessages = messages.flatMap((message) => [commentOf(message), ...message.fields.map(commentOf)]);
  return [commentOf(method), ...ofMessages].join("\n");
}
