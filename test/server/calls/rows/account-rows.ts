import { admin, answers, type Row, refuses } from "./row.ts";

const alice = { name: "alice", role: "ROLE_OPERATOR", password: "correct horse" };

/** Calls for logins, users and the audit log, in an order in which each call finds its resources. */
export const accountRows: readonly Row[] = [
  answers("services.auth.AuthService/Login", admin, {
    token: /./,
    expires: { timestamp: /Z$/ },
    accountId: /./,
  }),
  refuses(
    "services.auth.AuthService/Login",
    { ...admin, password: "wrong" },
    "UNAUTHENTICATED",
    "INVALID_CREDENTIALS",
  ),
  answers("services.auth.AuthService/CheckToken", { token: "none" }, {}),
  // Without providers; test/server/domains/auth/providers has logins by one.
  answers("hostplane.v1.LoginService/ListProviders", {}, {}),
  refuses("hostplane.v1.LoginService/BeginLogin", { provider: "corp" }, "NOT_FOUND", "PROVIDER_NOT_FOUND"),
  refuses("hostplane.v1.LoginService/FinishLogin", { provider: "corp" }, "NOT_FOUND", "PROVIDER_NOT_FOUND"),
  refuses(
    "hostplane.v1.LoginService/BeginDeviceLogin",
    { provider: "corp" },
    "NOT_FOUND",
    "PROVIDER_NOT_FOUND",
  ),
  refuses(
    "hostplane.v1.LoginService/FinishDeviceLogin",
    { loginHandle: "none" },
    "FAILED_PRECONDITION",
    "LOGIN_NOT_BEGUN",
  ),
  answers(
    "hostplane.v1.UserService/GetCaller",
    {},
    {
      actor: "user/admin",
      role: "ROLE_ADMIN",
      credential: "CREDENTIAL_SESSION",
    },
  ),
  answers("hostplane.v1.UserService/ListUsers", {}, { users: [{ name: "admin", hasPassword: true }] }),
  answers("hostplane.v1.UserService/CreateUser", alice, { user: { name: "alice", role: "ROLE_OPERATOR" } }),
  refuses("hostplane.v1.UserService/CreateUser", alice, "ALREADY_EXISTS", "USER_EXISTS"),
  refuses(
    "hostplane.v1.UserService/CreateUser",
    { ...alice, name: "a b" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "name",
  ),
  answers(
    "hostplane.v1.UserService/UpdateUser",
    { name: "alice", role: "ROLE_VIEWER" },
    { user: { name: "alice", role: "ROLE_VIEWER" } },
  ),
  refuses(
    "hostplane.v1.UserService/UpdateUser",
    { name: "admin", role: "ROLE_VIEWER" },
    "FAILED_PRECONDITION",
    "LAST_ADMIN",
  ),
  answers("hostplane.v1.UserService/SetPassword", { name: "alice", password: "another one" }, {}),
  refuses(
    "hostplane.v1.UserService/SetPassword",
    { name: "alice", password: "short" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "password",
  ),
  refuses(
    "hostplane.v1.UserService/ChangePassword",
    { currentPassword: "not this one", newPassword: "the next one" },
    "UNAUTHENTICATED",
    "INVALID_CREDENTIALS",
  ),
  answers("hostplane.v1.UserService/DeleteUser", { name: "alice" }, {}),
  refuses("hostplane.v1.UserService/DeleteUser", { name: "alice" }, "NOT_FOUND", "USER_NOT_FOUND"),
  answers(
    "hostplane.v1.UserService/CreateApiToken",
    { name: "ci", role: "ROLE_VIEWER" },
    { token: /^hpt_/, apiToken: { name: "ci", createdBy: "user/admin" } },
  ),
  answers("hostplane.v1.UserService/ListApiTokens", {}, { tokens: [{ name: "ci", role: "ROLE_VIEWER" }] }),
  answers("hostplane.v1.UserService/RevokeApiToken", { name: "ci" }, {}),
  refuses("hostplane.v1.UserService/RevokeApiToken", { name: "ci" }, "NOT_FOUND", "API_TOKEN_NOT_FOUND"),
  answers(
    "hostplane.v1.UserService/ExplainAccess",
    { actor: "admin", method: "proto.LVService/RemoveLV" },
    { allowed: true, explanation: /^user\/admin is admin of all services$/ },
  ),
  refuses(
    "hostplane.v1.UserService/ExplainAccess",
    { actor: "admin", method: "RemoveLV" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "method",
  ),
  answers("hostplane.v1.UserService/RotateSigningKey", {}, { keyId: /./ }),
  answers(
    "hostplane.v1.AuditService/ListEvents",
    { rpc: "proto.LVService/ResizeLV", pageSize: 2 },
    {
      events: [{ actor: "user/admin", outcome: "NOT_FOUND", reason: "VOLUME_NOT_FOUND" }, { outcome: "OK" }],
    },
  ),
  refuses(
    "hostplane.v1.AuditService/ListEvents",
    { pageSize: -1 },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "page_size",
  ),
];
