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
  return accessOfGrants(grantsFrom(grants, known));
}

/** Returns what to store for an account with these grants. A single grant without bounds is a role. */
export function accessOfGrants(grants: readonly Grant[]): AccountAccess {
  return {
    role: highestRole(grants),
    services: servicesOf(grants)?.toSorted() ?? null,
    grants: grants.length === 1 && !grants.some(isBounded) ? null : grants,
  };
}

/**
 * Parses and checks grants.
 * @throws InfraError INVALID_FIELD, whose field is as `grants[0].resources[1]`
 */
export function grantsFrom(grants: readonly unknown[], known: KnownMethods): readonly Grant[] {
  const parsed = grants.map((grant, index) => grantFrom(grant, `grants[${index}]`, known));
  const excess = explainExcess(parsed);
  if (excess !== undefined) {
    throw invalidField("grants", `must have ${excess}`);
  }
  return parsed;
}

/** Why an account cannot have these grants, as in "at most 32 grants, has 33"; undefined if it can. */
export function explainExcess(grants: readonly Grant[]): string | undefined {
  if (grants.length > grantsMax) {
    return `at most ${grantsMax} grants, has ${grants.length}`;
  }
  const sizeBytes = Buffer.byteLength(JSON.stringify(grants));
  return sizeBytes > grantsMaxBytes ? `at most ${grantsMaxBytes} bytes as JSON, has ${sizeBytes}` : undefined;
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
