import { createHash } from "node:crypto";
import { invalidField } from "../../../adapters/host/infra-error.ts";
import {
  ResourceHealth as HealthMessage,
  type ListResourcesRequest,
  type ResourceFilter as ResourceFilterMessage,
} from "../../../gen/hostplane/v1/inventory_pb.ts";
import type { Resource, ResourceHealth } from "../../domain/inventory-source.ts";
import { parsePageSize } from "../../rpc/listing/listing-fields.ts";
import type { InventoryRow } from "./read-inventory.ts";

/** Resources to return; each condition that is not empty must be met. */
export interface ResourceFilter {
  readonly types: ReadonlySet<string>;
  readonly domains: ReadonlySet<string>;
  readonly health: ReadonlySet<ResourceHealth>;
  readonly states: ReadonlySet<string>;
  /** An empty value matches any. */
  readonly labels: readonly (readonly [string, string])[];
  /** In lower case; each must occur. */
  readonly words: readonly string[];
  /** Hosts of the fleet; an empty name is the gateway itself. */
  readonly hosts: ReadonlySet<string>;
  readonly hostLabels: readonly (readonly [string, string])[];
}

/** `name`, `host`, `title`, `type`, `state`, `health` or the name of a figure. */
export interface ResourceOrder {
  readonly key: string;
  readonly isDescending: boolean;
}

/** The last resource of a page: where the next one begins. */
export interface PagePosition {
  /** Its value of the sort key; undefined if it has no such figure. */
  readonly value: string | number | undefined;
  readonly name: string;
  readonly host: string;
}

export interface ResourceQuery {
  readonly filter: ResourceFilter;
  readonly order: ResourceOrder;
  readonly pageSize: number;
  /** Undefined for the first page. */
  readonly after: PagePosition | undefined;
  /** Returns the token of the page that begins after a resource. */
  tokenOf(position: PagePosition): string;
}

/** Types and domains that exist, for errors that list them. */
export interface KnownNames {
  readonly types: readonly string[];
  readonly domains: readonly string[];
}

const valuesMax = 64;
const hostsMax = 1000;
const textMaxLength = 1024;
const searchMaxLength = 200;
/** A token contains a name and a sort key, each of at most 1,024 characters, which JSON may escape. */
const tokenMaxLength = 24 * 1024;
const hashBytes = 12;

const healthFromMessage: Readonly<Partial<Record<HealthMessage, ResourceHealth>>> = {
  [HealthMessage.UNSPECIFIED]: "unknown",
  [HealthMessage.OK]: "ok",
  [HealthMessage.DEGRADED]: "degraded",
  [HealthMessage.FAILED]: "failed",
};

/**
 * Parses filter, order and page of a request.
 * @throws InfraError INVALID_FIELD, also for the token of a listing with another filter or order
 */
export function parseResourceQuery(
  { filter, orderBy, pageSize, pageToken }: ListResourcesRequest,
  known: KnownNames,
): ResourceQuery {
  const parsed = parseResourceFilter(filter, known);
  const order = parseOrder(orderBy);
  const hash = hashOf(parsed, order);
  return {
    filter: parsed,
    order,
    pageSize: parsePageSize(pageSize),
    after: positionFromToken(pageToken, hash),
    tokenOf: ({ value, name, host }) =>
      Buffer.concat([
        hash,
        Buffer.from(JSON.stringify(value === undefined ? [host, name] : [host, name, value])),
      ]).toString("base64url"),
  };
}

/** @throws InfraError INVALID_FIELD */
export function parseResourceFilter(
  filter: ResourceFilterMessage | undefined,
  known: KnownNames,
): ResourceFilter {
  const { types = [], domains = [], health = [], states = [], labels = {}, search = "" } = filter ?? {};
  const { hosts = [], hostLabels = {} } = filter ?? {};
  assertKnown("filter.types", types, known.types);
  assertKnown("filter.domains", domains, known.domains);
  assertCount("filter.states", states, valuesMax);
  assertTexts("filter.states", states);
  const pairs = Object.entries(labels);
  assertCount("filter.labels", pairs, valuesMax);
  assertTexts("filter.labels", pairs.flat());
  assertCount("filter.hosts", hosts, hostsMax);
  assertTexts("filter.hosts", hosts);
  const hostPairs = Object.entries(hostLabels);
  assertCount("filter.host_labels", hostPairs, valuesMax);
  assertTexts("filter.host_labels", hostPairs.flat());
  assertCount("filter.health", health, valuesMax);
  if (search.length > searchMaxLength) {
    throw invalidField("filter.search", `expected at most ${searchMaxLength} characters`);
  }
  return {
    types: new Set(types),
    domains: new Set(domains),
    health: new Set(health.map(parseHealth)),
    states: new Set(states),
    labels: pairs,
    words: search
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== ""),
    hosts: new Set(hosts),
    hostLabels: hostPairs,
  };
}

function parseHealth(value: HealthMessage, index: number): ResourceHealth {
  const health = healthFromMessage[value];
  if (health === undefined) {
    throw invalidField(`filter.health[${index}]`, "expected a value of ResourceHealth");
  }
  return health;
}

/** Reports whether a resource matches the filter, except for `hosts` and `hostLabels`. */
export function matchesFilter(filter: ResourceFilter, { domain, host, resource }: InventoryRow): boolean {
  const { types, domains, health, states, labels, words } = filter;
  return (
    isAmong(types, resource.type) &&
    isAmong(domains, domain) &&
    isAmong(health, resource.health) &&
    isAmong(states, resource.state) &&
    labels.every(([key, value]) => {
      const own = Object.hasOwn(resource.labels, key) ? resource.labels[key] : undefined;
      return own !== undefined && (value === "" || own === value);
    }) &&
    (words.length === 0 || matchesWords(words, host, searchTextOf(resource)))
  );
}

function isAmong<T>(values: ReadonlySet<T>, value: T): boolean {
  return values.size === 0 || values.has(value);
}

function matchesWords(words: readonly string[], host: string, text: string): boolean {
  return words.every((word) => text.includes(word) || host.includes(word));
}

const searchTexts = new WeakMap<Resource, string>();

function searchTextOf(resource: Resource): string {
  let text = searchTexts.get(resource);
  if (text === undefined) {
    const { name, type, title, state, labels } = resource;
    const pairs = Object.entries(labels).map(([key, value]) => (value === "" ? key : `${key}=${value}`));
    text = [name, type, title, state, ...pairs].join("\n").toLowerCase();
    searchTexts.set(resource, text);
  }
  return text;
}

function assertKnown(field: string, values: readonly string[], known: readonly string[]): void {
  assertCount(field, values, valuesMax);
  for (const [index, value] of values.entries()) {
    if (!known.includes(value)) {
      throw invalidField(`${field}[${index}]`, `expected one of ${known.join(", ")}`);
    }
  }
}

function assertCount(field: string, values: readonly unknown[], max: number): void {
  if (values.length > max) {
    throw invalidField(field, `expected at most ${max} values`);
  }
}

function assertTexts(field: string, values: readonly string[]): void {
  if (values.some((value) => value.length > textMaxLength)) {
    throw invalidField(field, `expected values of at most ${textMaxLength} characters`);
  }
}

function parseOrder(orderBy: string): ResourceOrder {
  const match = /^([a-z][a-z0-9_]{0,62})(?: (asc|desc))?$/.exec(orderBy === "" ? "name" : orderBy);
  if (match === null) {
    throw invalidField("order_by", 'expected a sort key such as "name", "state" or "size desc"');
  }
  return { key: match[1] ?? "name", isDescending: match[2] === "desc" };
}

function hashOf(filter: ResourceFilter, order: ResourceOrder): Buffer {
  const plain = Object.values(filter).map((value) => [...value].toSorted());
  return createHash("sha256")
    .update(JSON.stringify([plain, order]))
    .digest()
    .subarray(0, hashBytes);
}

function positionFromToken(token: string, hash: Buffer): PagePosition | undefined {
  if (token === "") {
    return undefined;
  }
  const bytes = Buffer.from(token.slice(0, tokenMaxLength), "base64url");
  const position =
    bytes.toString("base64url") === token ? parsePosition(bytes.subarray(hashBytes)) : undefined;
  if (position === undefined) {
    throw invalidField("page_token", "expected the next_page_token of a response");
  }
  if (!bytes.subarray(0, hashBytes).equals(hash)) {
    throw invalidField("page_token", "belongs to another filter or order; repeat those of the first page");
  }
  return position;
}

function parsePosition(bytes: Buffer): PagePosition | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
  const [host, name, value, ...others]: readonly unknown[] = Array.isArray(parsed) ? parsed : [];
  const isPosition =
    typeof host === "string" &&
    typeof name === "string" &&
    (value === undefined || typeof value === "string" || typeof value === "number") &&
    others.length === 0;
  return isPosition ? { host, name, value } : undefined;
}
