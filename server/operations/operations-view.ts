import { InfraError } from "../../adapters/host/infra-error.ts";
import type { Operation } from "./operation.ts";
import {
  type OperationViewer,
  type OperationViewMessage,
  type OperationViewSources,
  operationView,
} from "./operation-view.ts";

/** One of several operations that a stream tells of together. */
export interface ViewedOperation {
  /** What its messages begin with, e.g. `bm-1`. */
  readonly label: string;
  /** What `start` of an OperationStarter has returned, or why it could not be begun. */
  readonly begun: { readonly operation: Operation; readonly isNew: boolean } | { readonly error: unknown };
}

/**
 * Makes of an RPC that streams its progress a view of several operations at once: active until all have ended, then
 * completed, or failed with what failed and why. One that could not be begun counts as failed.
 * @param begin begins them all
 * @throws what `begin` throws, and the viewer's signal's reason
 */
export async function* operationsView(
  sources: OperationViewSources,
  viewer: OperationViewer,
  begin: () => Promise<readonly ViewedOperation[]>,
  describeResult?: (operation: Operation) => string,
): AsyncGenerator<OperationViewMessage, void> {
  const { operations, events } = sources;
  const ending = new AbortController();
  // What follows is read later, and begins here all the same.
  const from = { operations, events: { headSeq: events.headSeq, follow: events.follow } };
  const all = await begin();
  const failures: string[] = [];
  const views: AsyncGenerator<OperationViewMessage, void>[] = [];
  const ids: string[] = [];
  const signal = AbortSignal.any([viewer.signal, ending.signal]);
  const ownViewer = { signal, noteOperation: () => {} };
  for (const { label, begun } of all) {
    if ("error" in begun) {
      const { error } = begun;
      failures.push(`${label}: ${error instanceof Error ? error.message : String(error)}`);
    } else {
      ids.push(begun.operation.id);
      const view = operationView(from, ownViewer, async () => begun, describeResult);
      views.push(labelled(label, view, failures));
    }
  }
  viewer.noteOperation(ids.join(","));
  yield* merged(views, () => ending.abort(new InfraError("CALLER_LEFT", "the stream is over")));
  yield failures.length === 0
    ? { state: "completed", message: all.length === 1 ? "it is done" : `all ${all.length} are done` }
    : { state: "failed", message: `${failures.length} of ${all.length} failed: ${failures.join("; ")}` };
}

async function* labelled(
  label: string,
  view: AsyncGenerator<OperationViewMessage, void>,
  failures: string[],
): AsyncGenerator<OperationViewMessage, void> {
  for await (const { state, message } of view) {
    if (state === "failed") {
      failures.push(`${label}: ${message}`);
    }
    const words = state === "failed" ? `it failed: ${message}` : message;
    yield { state: "active", message: `${label}: ${words}` };
  }
}

/**
 * What any of them yields, as soon as it does. Ends all when one fails, or its reader leaves.
 * @param onEnd ends the waits of those that yield nothing now, which could not be closed before
 */
async function* merged<T>(
  sources: readonly AsyncGenerator<T, void>[],
  onEnd: () => void,
): AsyncGenerator<T, void> {
  const pending = new Map<AsyncGenerator<T, void>, Promise<void>>();
  const arrived: {
    readonly source: AsyncGenerator<T, void>;
    readonly outcome: PromiseSettledResult<IteratorResult<T, void>>;
  }[] = [];
  // No race of all that is pending: each would stay with every source that is silent, until it speaks.
  let awake = Promise.withResolvers<void>();
  async function next(source: AsyncGenerator<T, void>): Promise<void> {
    const [outcome] = await Promise.allSettled([source.next()]);
    arrived.push({ source, outcome });
    awake.resolve();
  }
  for (const source of sources) {
    pending.set(source, next(source));
  }
  try {
    for (let openCount = sources.length; openCount > 0; ) {
      await awake.promise;
      awake = Promise.withResolvers();
      for (const { source, outcome } of arrived.splice(0)) {
        if (outcome.status === "rejected") {
          throw outcome.reason;
        }
        if (outcome.value.done === true) {
          openCount -= 1;
        } else {
          pending.set(source, next(source));
          yield outcome.value.value;
        }
      }
    }
  } finally {
    onEnd();
    const left = sources.map(async (source) => {
      await pending.get(source);
      await source.return();
    });
    await Promise.all(left);
  }
}
