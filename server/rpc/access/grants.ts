import { type CallerRole, callerRoles, includesRole } from "./caller-role.ts";
import { type Grant, type GrantedHost, isBounded } from "./grant.ts";
import { globFrom, parseResourcePattern } from "./resource-pattern.ts";

/** What a response may show to a caller. */
export interface Subject {
  /** Full names of services that show it: one of them must be granted. */
  readonly services: readonly string[];
  readonly resource: string;
  /** Undefined: the gateway itself. */
  readonly host?: GrantedHost | undefined;
  /** Whether what is below the resource is enough, for an event that reports a gap. */
  readonly isAbove?: boolean;
}

/** What a call does. */
export interface GrantedUse {
  /** `package.Service/Method` */
  readonly methodPath: string;
  readonly role: CallerRole | "anyone";
  /** Undefined: any host. */
  readonly host?: GrantedHost | "here" | undefined;
  /** Undefined: any resource; `all`: only a grant without resources covers it. */
  readonly resource?: string | "all" | undefined;
}

/**
 * The grants of a caller; at least one has bounds. The object stays the same until the account's grants change, so a change can be
 * detected by identity.
 */
export interface Grants {
  readonly list: readonly Grant[];
  /** The highest role. */
  readonly role: CallerRole;
  /** The services of all grants; undefined if one has all. */
  readonly services: ReadonlySet<string> | undefined;
  /** Returns the first grant that allows a use; undefined if none does. */
  allowing(use: GrantedUse): Grant | undefined;
  /** Reports whether the caller may see something. */
  covers(subject: Subject): boolean;
  /** Reports whether one of the grants covers a host. */
  coversHost(host: GrantedHost): boolean;
  /** Reports whether one of the grants covers all resources of this gateway's host. */
  coversAllHere(): boolean;
  /** Returns the grants on a host, without their bounds of hosts. */
  onHost(host: GrantedHost): readonly Grant[];
}

interface CompiledGrant {
  readonly grant: Grant;
  readonly services: ReadonlySet<string> | undefined;
  readonly methods: ReadonlySet<string> | undefined;
  coversHost(host: GrantedHost): boolean;
  coversResource(resource: string): boolean;
  mayCoverBelow(resource: string): boolean;
}

/**
 * @param here the name of this gateway's host
 * @returns undefined if the grants are one without bounds, for which role and services are enough
 */
export function createGrants(grants: readonly Grant[], here: string): Grants | undefined {
  const [only, ...others] = grants;
  if (only === undefined || (others.length === 0 && !isBounded(only))) {
    return undefined;
  }
  const compiled = grants.map(compile);
  const own: GrantedHost = { name: here, labels: {} };
  const services = servicesOf(grants);
  return {
    list: grants,
    role: highestRole(grants),
    services: services && new Set(services),
    allowing({ methodPath, role, host, resource }) {
      return compiled.find(
        (each) =>
          includesRole(each.grant.role, role) &&
          allowsMethod(each, methodPath) &&
          (host === undefined || each.coversHost(host === "here" ? own : host)) &&
          (resource === undefined ||
            (resource === "all" ? each.grant.resources === undefined : each.coversResource(resource))),
      )?.grant;
    },
    covers({ services, resource, host = own, isAbove = false }) {
      return compiled.some(
        (each) =>
          (each.services === undefined || services.some((name) => each.services?.has(name) === true)) &&
          each.coversHost(host) &&
          (each.coversResource(resource) || (isAbove && each.mayCoverBelow(resource))),
      );
    },
    coversHost: (host) => compiled.some((each) => each.coversHost(host)),
    coversAllHere: () => compiled.some((each) => each.grant.resources === undefined && each.coversHost(own)),
    onHost: (host) =>
      compiled
        .filter((each) => each.coversHost(host))
        .map(({ grant: { hosts: _hosts, hostLabels: _labels, ...grant } }) => grant),
  };
}

/** Returns the highest role of some grants. */
export function highestRole(grants: readonly Pick<Grant, "role">[]): CallerRole {
  return callerRoles.findLast((role) => grants.some((grant) => grant.role === role)) ?? "viewer";
}

/** Returns the services of some grants, none of them twice; undefined if one has all. */
export function servicesOf(grants: readonly Grant[]): readonly string[] | undefined {
  const lists = grants.map(({ services, methods }) => services ?? methods?.map(serviceOf));
  return lists.includes(undefined) ? undefined : [...new Set(lists.flatMap((list) => list ?? []))];
}

function allowsMethod({ services, methods }: CompiledGrant, methodPath: string): boolean {
  if (methods !== undefined) {
    return methods.has(methodPath);
  }
  return services === undefined || services.has(serviceOf(methodPath));
}

function compile(grant: Grant): CompiledGrant {
  const { methods, hosts, hostLabels, resources } = grant;
  const services = methods === undefined ? grant.services : methods.map(serviceOf);
  const hostGlobs = hosts?.map(globFrom);
  const patterns = resources?.map(parseResourcePattern);
  return {
    grant,
    services: services && new Set(services),
    methods: methods && new Set(methods),
    coversHost: ({ name, labels }) =>
      (hostGlobs === undefined || hostGlobs.some((matches) => matches(name))) &&
      (hostLabels === undefined || hostLabels.every((label) => hasLabel(labels, label))),
    coversResource: (resource) =>
      patterns === undefined || patterns.some((pattern) => pattern.covers(resource)),
    mayCoverBelow: (resource) => patterns?.some((pattern) => pattern.mayCoverBelow(resource)) === true,
  };
}

function hasLabel(
  labels: GrantedHost["labels"],
  { name, value }: { readonly name: string; readonly value: string },
): boolean {
  return Object.hasOwn(labels, name) && (value === "" || labels[name] === value);
}

function serviceOf(methodPath: string): string {
  return methodPath.slice(0, methodPath.indexOf("/"));
}
