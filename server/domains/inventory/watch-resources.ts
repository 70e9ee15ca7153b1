import { setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { WatchResourcesResponseSchema } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { type InventorySource, subscribeToAll } from "../../domain/inventory-source.ts";
import { watchState } from "../../rpc/streams/watch-state.ts";
import { type InventoryRead, type InventoryRow, readInventory } from "./read-inventory.ts";
import { problemMessage, resourceMessage } from "./resource-messages.ts";
import { matchesFilter, type ResourceFilter } from "./resource-query.ts";

/** Changes that come close together are sent as one message. */
const quietMs = 200;
/** A message stays far below the limit of a client. */
const rowsPerMessage = 500;

/**
 * Streams the resources that match: all of them, then what changes.
 * @param sourcesOf called before each read, since a caller's services may change. Those of the first call are subscribed to.
 */
export async function* watchResources(
  sourcesOf: () => readonly InventorySource[],
  filter: ResourceFilter,
  signal: AbortSignal,
): AsyncGenerator<MessageInitShape<typeof WatchResourcesResponseSchema>, void> {
  let sent: ReadonlyMap<string, InventoryRow> = new Map();
  let sentProblems: readonly object[] | undefined;
  const read = () => readInventory(sourcesOf(), signal);
  const subscriptions = sourcesOf().map((source) => source.subscribe);
  const subscribe = (wake: () => void) => subscribeToAll(subscriptions, wake);
  for await (const state of watchState(subscribe, read, signal)) {
    const rows = rowsByName(state, filter);
    const problems = state.problems.map(problemMessage);
    const changed = [...rows.values()].filter((row) => !isSame(row, sent.get(row.resource.name)));
    const removed = [...sent.keys()].filter((name) => !rows.has(name));
    const isNews = sentProblems === undefined || !isDeepStrictEqual(problems, sentProblems);
    if (isNews || changed.length > 0 || removed.length > 0) {
      yield* messagesOf(changed, removed, problems);
    }
    sent = rows;
    sentProblems = problems;
    await wait(quietMs, undefined, { signal }).catch(() => {});
  }
}

function* messagesOf(
  changed: readonly InventoryRow[],
  removed: readonly string[],
  problems: readonly ReturnType<typeof problemMessage>[],
): Generator<MessageInitShape<typeof WatchResourcesResponseSchema>, void> {
  let start = 0;
  do {
    const part = changed.slice(start, start + rowsPerMessage);
    yield {
      changed: part.map(resourceMessage),
      removed: start === 0 ? [...removed] : [],
      problems: [...problems],
      synced: start + rowsPerMessage >= changed.length,
    };
    start += rowsPerMessage;
  } while (start < changed.length);
}

function rowsByName({ rows }: InventoryRead, filter: ResourceFilter): ReadonlyMap<string, InventoryRow> {
  return new Map(
    rows
      .filter(({ domain, resource }) => matchesFilter(filter, domain, resource))
      .map((row) => [row.resource.name, row]),
  );
}

/** Ignores when it was read: a refresh without a change is not news. */
function isSame({ resource, readAtMs }: InventoryRow, sent: InventoryRow | undefined): boolean {
  return (
    sent !== undefined &&
    (resource === sent.resource || isDeepStrictEqual(resource, sent.resource)) &&
    (readAtMs === undefined) === (sent.readAtMs === undefined)
  );
}
