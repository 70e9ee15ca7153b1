import { invalidField } from "../../../../adapters/host/infra-error.ts";
import { UserService } from "../../../../gen/hostplane/v1/user_pb.ts";
import type { CallerRole } from "../../../rpc/access/caller-role.ts";
import { type Grant, grantSchema, grantsMax, grantsMaxBytes, isBounded } from "../../../rpc/access/grant.ts";
import { highestRole, servicesOf } from "../../../rpc/access/grants.ts";
import { serviceLimitFrom } from "./account-rules.ts";

/** What an account may do, as it is stored. */
export interface AccountAccess {
  readonly role: CallerRole;
  readonly services: readonly string[] | null;
  readonly grants: readonly Grant[] | null;
}

/** What exists, for errors about what does not. */
export interface KnownMethods {
  /** Full names of all services of the contract. */
  readonly serviceNames: readonly string[];
  /** All methods as `package.Service/Method`. */
  readonly methodPaths: readonly string[];
}

/** What an account may do, as requested: a role and services, or grants. */
export interface RequestedAccess {
  readonly role: CallerRole | undefined;
  /** Empty: all. */
  readonly services: readonly string[];
  /** Empty or absent: `role` and `services` decide. */
  readonly grants?: readonly unknown[];
}

/**
 * Returns what to store for an account. A single grant without bounds is a role.
 * @throws InfraError INVALID_FIELD
 */
export function accessFrom(requested: RequestedAccess, known: KnownMethods): AccountAccess {
  const { role, services, grants = [] } = requested;
  if (grants.length === 0) {
    return {
      role: requiredRole(role),
      services: serviceLimitFrom(services, known.serviceNames),
      grants: null,
    };
  }
  if (role !== undefined || services.length > 0) {
    throw invalidField(role === undefined ? "services" : "role", "must not be set together with grants");
  }
  const parsed = grantsFrom(grants, known);
  const [only, ...others] = parsed;
  if (only !== undefined && others.length === 0 && !isBounded(only)) {
    const limit = serviceLimitFrom(only.services ?? [], known.serviceNames);
    return { role: only.role, services: limit, grants: null };
  }
  return {
    role: highestRole(parsed),
    services: servicesOf(parsed)?.toSorted() ?? null,
    grants: parsed,
  };
}

/**
 * Parses and checks grants.
 * @throws InfraError INVALID_FIELD, whose field is as `grants[0].resources[1]`
 */
export function grantsFrom(grants: readonly unknown[], known: KnownMethods): readonly Grant[] {
  if (grants.length > grantsMax) {
    throw invalidField("grants", `must have at most ${grantsMax} grants`);
  }
  const parsed = grants.map((grant, index) => grantFrom(grant, `grants[${index}]`, known));
  const sizeBytes = Buffer.byteLength(JSON.stringify(parsed));
  if (sizeBytes > grantsMaxBytes) {
    throw invalidField("grants", `must have at most ${grantsMaxBytes} bytes as JSON, has ${sizeBytes}`);
  }
  return parsed;
}

function grantFrom(grant: unknown, field: string, { serviceNames, methodPaths }: KnownMethods): Grant {
  const { data, error } = grantSchema.safeParse(grant);
  if (data === undefined) {
    const [issue] = error.issues;
    const path = (issue?.path ?? []).map((part) =>
      typeof part === "number" ? `[${part}]` : `.${wire(part)}`,
    );
    throw invalidField(`${field}${path.join("")}`, issue?.message ?? "expected a grant");
  }
  const { services = [], methods = [] } = data;
  for (const [index, name] of services.entries()) {
    assertGrantable(name, `${field}.services[${index}]`, serviceNames, "service");
  }
  for (const [index, path] of methods.entries()) {
    assertGrantable(path, `${field}.methods[${index}]`, methodPaths, "method");
  }
  return data;
}

function assertGrantable(name: string, field: string, known: readonly string[], what: string): void {
  if (!known.includes(name)) {
    throw invalidField(field, `unknown ${what} ${JSON.stringify(name)}`);
  }
  if (name.split("/")[0] === UserService.typeName) {
    const why = "a caller that may manage users can grant itself everything else";
    throw invalidField(field, `must not be of ${UserService.typeName}: ${why}`);
  }
}

/** Returns the name of a field in the contract. */
function wire(key: PropertyKey): string {
  return String(key) === "hostLabels" ? "host_labels" : String(key);
}

/** @throws InfraError INVALID_FIELD */
function requiredRole(role: CallerRole | undefined): CallerRole {
  if (role === undefined) {
    throw invalidField("role", "must be ROLE_VIEWER, ROLE_OPERATOR or ROLE_ADMIN, unless grants are set");
  }
  return role;
}
