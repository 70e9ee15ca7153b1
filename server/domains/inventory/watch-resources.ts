import { setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { WatchResourcesResponseSchema } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { type InventorySource, subscribeToAll } from "../../domain/inventory-source.ts";
import { batchesBySize } from "../../rpc/listing/batches-by-size.ts";
import { pageMaxBytes } from "../../rpc/listing/read-page.ts";
import { watchState } from "../../rpc/streams/watch-state.ts";
import type { HostInventory } from "./hosts/host-inventory.ts";
import type { InventoryPart, InventoryProblem, InventoryRow } from "./read-inventory.ts";
import { hostInventoryMessage, resourceMessage } from "./resource-messages.ts";
import { sizeOfRow } from "./resource-page.ts";
import { matchesFilter, type ResourceFilter } from "./resource-query.ts";

/** What a watch shows. */
export interface InventoryState {
  readonly parts: readonly InventoryPart[];
  /** The selected hosts of the fleet. */
  readonly hosts: readonly HostInventory[];
}

type WatchMessage = MessageInitShape<typeof WatchResourcesResponseSchema>;

/** Changes that come close together are sent as one message. */
const quietMs = 200;
/** A message stays far below the limit of a client. */
const partMax = { items: 500, bytes: pageMaxBytes };

/** The matching rows of a part that were sent, by name. */
interface SentPart {
  readonly version: readonly unknown[];
  readonly rows: ReadonlyMap<string, InventoryRow>;
}

/** What has changed since the last message. */
interface Change {
  readonly changed: readonly InventoryRow[];
  readonly removed: readonly InventoryRow[];
  readonly hosts: readonly HostInventory[];
  readonly removedHosts: readonly string[];
}

/**
 * Streams the resources that match: all of them, then what changes.
 * @param read called after each change, since the selected hosts and a caller's services may change
 */
export async function* watchResources(
  read: () => Promise<InventoryState>,
  subscriptions: readonly InventorySource["subscribe"][],
  filter: ResourceFilter,
  signal: AbortSignal,
): AsyncGenerator<WatchMessage, void> {
  let sent: ReadonlyMap<string, SentPart> = new Map();
  let sentHosts: ReadonlyMap<string, HostInventory> = new Map();
  let sentProblems: readonly InventoryProblem[] | undefined;
  const subscribe = (wake: () => void) => subscribeToAll(subscriptions, wake);
  for await (const { parts, hosts } of watchState(subscribe, read, signal)) {
    const hostsByName = new Map(hosts.map((host) => [host.host, host]));
    const now = new Map(parts.map((part) => [part.id, sentPartOf(part, sent.get(part.id), filter)]));
    const change: Change = {
      ...changeBetween(sent, now),
      hosts: hosts.filter((host) => !isSameHost(host, sentHosts.get(host.host))),
      removedHosts: [...sentHosts.keys()].filter((name) => !hostsByName.has(name)),
    };
    const problems = parts.flatMap((part) => part.problems);
    const isNews = sentProblems === undefined || !isDeepStrictEqual(problems, sentProblems);
    if (isNews || Object.values(change).some((part) => part.length > 0)) {
      yield* messagesOf(change, problems);
    }
    sent = now;
    sentHosts = hostsByName;
    sentProblems = problems;
    await wait(quietMs, undefined, { signal }).catch(() => {});
  }
}

function* messagesOf(
  { changed, removed, hosts, removedHosts }: Change,
  problems: readonly InventoryProblem[],
): Generator<WatchMessage, void> {
  const gone = batchesBySize(removed, ({ resource, host }) => resource.name.length + host.length, partMax);
  const [first = [], ...more] = batchesBySize(changed, sizeOfRow, partMax);
  // What was removed comes first: a resource of the same name may be new.
  const parts = [
    ...gone.slice(0, -1).map((removed) => ({ removed, changed: [] })),
    { removed: gone.at(-1) ?? [], changed: first },
    ...more.map((changed) => ({ removed: [], changed })),
  ];
  for (const [index, part] of parts.entries()) {
    yield {
      changed: part.changed.map(resourceMessage),
      removed: part.removed.filter(({ host }) => host === "").map(({ resource }) => resource.name),
      removedOnHosts: part.removed
        .filter(({ host }) => host !== "")
        .map(({ host, resource }) => ({ host, name: resource.name })),
      hosts: index === 0 ? hosts.map(hostInventoryMessage) : [],
      removedHosts: index === 0 ? [...removedHosts] : [],
      problems: [...problems],
      synced: index === parts.length - 1,
    };
  }
}

/** Keeps what was sent of a part that has not changed: with many hosts, few of them change at a time. */
function sentPartOf(part: InventoryPart, sent: SentPart | undefined, filter: ResourceFilter): SentPart {
  if (sent !== undefined && isSameVersion(part.version, sent.version)) {
    return sent;
  }
  const matching = part.rows.filter((row) => matchesFilter(filter, row));
  return { version: part.version, rows: new Map(matching.map((row) => [row.resource.name, row])) };
}

function isSameVersion(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}

function changeBetween(
  sent: ReadonlyMap<string, SentPart>,
  now: ReadonlyMap<string, SentPart>,
): Pick<Change, "changed" | "removed"> {
  const changed: InventoryRow[] = [];
  const removed: InventoryRow[] = [];
  for (const [id, part] of now) {
    const before = sent.get(id);
    if (part !== before) {
      changed.push(
        ...[...part.rows].flatMap(([name, row]) => (isSame(row, before?.rows.get(name)) ? [] : [row])),
      );
    }
  }
  for (const [id, part] of sent) {
    const after = now.get(id);
    if (part !== after) {
      removed.push(...[...part.rows].flatMap(([name, row]) => (after?.rows.has(name) === true ? [] : [row])));
    }
  }
  return { changed, removed };
}

/** Ignores when it was read: a refresh without a change is not news. */
function isSame({ resource, readAtMs }: InventoryRow, sent: InventoryRow | undefined): boolean {
  return (
    sent !== undefined &&
    (resource === sent.resource || isDeepStrictEqual(resource, sent.resource)) &&
    (readAtMs === undefined) === (sent.readAtMs === undefined)
  );
}

/** Ignores when its resources were read. */
function isSameHost({ isConnected, error }: HostInventory, sent: HostInventory | undefined): boolean {
  return sent !== undefined && isConnected === sent.isConnected && error?.message === sent.error?.message;
}
