import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Duration, durationMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { invalidField } from "../../../adapters/host/infra-error.ts";
import {
  type ApiTokenSchema,
  type CreateApiTokenRequest,
  type CreateUserRequest,
  Credential,
  type GetCallerResponseSchema,
  type Grant as GrantMessage,
  type GrantSchema,
  Role,
  type UpdateUserRequest,
  type UserSchema,
} from "../../../gen/hostplane/v1/user_pb.ts";
import type { CallerRole } from "../../rpc/access/caller-role.ts";
import type { Grant } from "../../rpc/access/grant.ts";
import type { Caller, CredentialKind } from "../../rpc/call/caller.ts";
import type { ApiTokenRecord } from "./store/api-tokens.ts";
import type { UserRecord } from "./store/user-record.ts";
import type { RequestedApiToken } from "./tokens/api-tokens.ts";
import type { RequestedUser, RequestedUserChange } from "./users.ts";

const roleNumbers: Readonly<Record<string, Role>> = {
  viewer: Role.VIEWER,
  operator: Role.OPERATOR,
  admin: Role.ADMIN,
} satisfies Record<CallerRole, Role>;

const roleNames: ReadonlyMap<Role, CallerRole> = new Map([
  [Role.VIEWER, "viewer"],
  [Role.OPERATOR, "operator"],
  [Role.ADMIN, "admin"],
]);

const credentials: Readonly<Record<CredentialKind, Credential>> = {
  session: Credential.SESSION,
  cookie: Credential.COOKIE,
  apiToken: Credential.API_TOKEN,
  certificate: Credential.CERTIFICATE,
  listener: Credential.LISTENER,
  adminSocket: Credential.ADMIN_SOCKET,
  hub: Credential.HUB,
  none: Credential.UNSPECIFIED,
};

/** @throws InfraError INVALID_FIELD when the role is unknown */
export function newUserFrom(request: CreateUserRequest): RequestedUser {
  const { name, password, services, certificateNames } = request;
  const access = { role: optionalRole(request.role), services, grants: request.grants.map(grantFromMessage) };
  return { name, password, certificateNames, ...access };
}

/** @throws InfraError INVALID_FIELD when the role is unknown */
export function userChangeFrom(request: UpdateUserRequest): RequestedUserChange {
  return {
    role: optionalRole(request.role),
    services: request.services?.services,
    grants: request.grants?.grants.map(grantFromMessage),
    certificateNames: request.certificateNames?.names,
  };
}

/** @throws InfraError INVALID_FIELD when the role is unknown */
export function newApiTokenFrom(request: CreateApiTokenRequest, createdBy: string): RequestedApiToken {
  const { name, services, lifetime } = request;
  const access = { role: optionalRole(request.role), services, grants: request.grants.map(grantFromMessage) };
  return { name, ...access, lifetimeMs: lifetimeFrom(lifetime), createdBy };
}

/** Converts a user. An unlimited list of services is empty in the message. */
export function userMessage(user: UserRecord): MessageInitShape<typeof UserSchema> {
  return {
    name: user.name,
    role: roleNumbers[user.role] ?? Role.UNSPECIFIED,
    services: [...(user.services ?? [])],
    certificateNames: [...user.certificateNames],
    grants: (user.grants ?? []).map(grantMessage),
    accountId: user.id,
    hasPassword: user.hasPassword,
    provider: user.provider ?? "",
    createdAt: timestampFromMs(user.createdAtMs),
    changedAt: timestampFromMs(user.changedAtMs),
  };
}

/** Converts an API token, without the token itself, of which the gateway has only a hash. */
export function apiTokenMessage(token: ApiTokenRecord): MessageInitShape<typeof ApiTokenSchema> {
  return {
    name: token.name,
    role: roleNumbers[token.role] ?? Role.UNSPECIFIED,
    services: [...(token.services ?? [])],
    grants: (token.grants ?? []).map(grantMessage),
    accountId: token.id,
    createdBy: token.createdBy,
    createdAt: timestampFromMs(token.createdAtMs),
    ...(token.expiresAtMs === null ? {} : { expiresAt: timestampFromMs(token.expiresAtMs) }),
    ...(token.lastUsedAtMs === null ? {} : { lastUsedAt: timestampFromMs(token.lastUsedAtMs) }),
  };
}

/** Describes the caller of an RPC. The role is unspecified without a login. */
export function callerMessage(caller: Caller): MessageInitShape<typeof GetCallerResponseSchema> {
  const { actor, accountId, role, services, grants, credential, expiresAtMs } = caller;
  return {
    actor,
    accountId,
    role: role === undefined ? Role.UNSPECIFIED : (roleNumbers[role] ?? Role.UNSPECIFIED),
    services: [...(services ?? [])].toSorted(),
    grants: (grants?.list ?? []).map(grantMessage),
    credential: credentials[credential],
    ...(expiresAtMs === undefined ? {} : { expiresAt: timestampFromMs(expiresAtMs) }),
  };
}

/** Converts a grant. What it does not limit is empty in the message. */
export function grantMessage(grant: Grant): MessageInitShape<typeof GrantSchema> {
  const { role, services = [], methods = [], hosts = [], hostLabels = [], resources = [] } = grant;
  return {
    role: roleNumbers[role] ?? Role.UNSPECIFIED,
    services: [...services],
    methods: [...methods],
    hosts: [...hosts],
    hostLabels: hostLabels.map(({ name, value }) => ({ name, value })),
    resources: [...resources],
  };
}

/** Returns a grant as `grantSchema` reads it. What is empty is not limited. */
function grantFromMessage(message: GrantMessage): unknown {
  const { role, hostLabels, services, methods, hosts, resources } = message;
  const labels = hostLabels.map(({ name, value }) => ({ name, value }));
  const lists = Object.entries({ services, methods, hosts, resources, hostLabels: labels });
  return { role: roleNames.get(role), ...Object.fromEntries(lists.filter(([, list]) => list.length > 0)) };
}

/** @throws InfraError INVALID_FIELD for an unknown role */
function optionalRole(role: Role): CallerRole | undefined {
  return role === Role.UNSPECIFIED ? undefined : roleFrom(role);
}

function roleFrom(role: Role): CallerRole {
  const name = roleNames.get(role);
  if (name === undefined) {
    throw invalidField("role", "must be ROLE_VIEWER, ROLE_OPERATOR or ROLE_ADMIN");
  }
  return name;
}

function lifetimeFrom(lifetime: Duration | undefined): number | undefined {
  return lifetime === undefined ? undefined : durationMs(lifetime);
}
