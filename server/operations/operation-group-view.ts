import { InfraError } from "../../adapters/host/infra-error.ts";
import { hostReasons } from "../../adapters/host/reasons.ts";
import type { Operation } from "./operation.ts";
import {
  type OperationViewer,
  type OperationViewMessage,
  type OperationViewSources,
  operationView,
} from "./operation-view.ts";

/** One of several operations that a stream reports together. */
export interface ViewedOperation {
  /** Prefix of its messages, e.g. `bm-1`. */
  readonly label: string;
  /** Result of `start` of an OperationStarter, or the error that prevented the start. */
  readonly started: { readonly operation: Operation; readonly isNew: boolean } | { readonly error: unknown };
}

/**
 * Turns an RPC that streams its progress into a view of several operations at once: active until all have ended, then
 * completed, or failed with the reasons. An operation that could not be started counts as failed.
 * @param begin starts all of them
 * @throws the errors of `begin`, and the reason of the viewer's signal
 */
export async function* operationGroupView(
  sources: OperationViewSources,
  viewer: OperationViewer,
  begin: () => Promise<readonly ViewedOperation[]>,
  describeResult?: (operation: Operation) => string,
): AsyncGenerator<OperationViewMessage, void> {
  const { operations, events } = sources;
  const ending = new AbortController();
  // Fixed here, because the views below begin to read later.
  const from = { operations, events: { headSeq: events.headSeq, follow: events.follow } };
  const all = await begin();
  const failures: string[] = [];
  const views: AsyncGenerator<OperationViewMessage, void>[] = [];
  const ids: string[] = [];
  const signal = AbortSignal.any([viewer.signal, ending.signal]);
  const ownViewer = { signal, noteOperation: () => {} };
  for (const { label, started } of all) {
    if ("error" in started) {
      const { error } = started;
      failures.push(`${label}: ${error instanceof Error ? error.message : String(error)}`);
    } else {
      ids.push(started.operation.id);
      const view = operationView(from, ownViewer, async () => started, describeResult);
      views.push(labelled(label, view, failures));
    }
  }
  viewer.noteOperation(ids.join(","));
  yield* merged(views, () => ending.abort(new InfraError(hostReasons.CALLER_LEFT, "the stream has ended")));
  yield failures.length === 0
    ? { state: "completed", message: all.length === 1 ? "done" : `all ${all.length} are done` }
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
    const words = state === "failed" ? `failed: ${message}` : message;
    yield { state: "active", message: `${label}: ${words}` };
  }
}

/**
 * Merges the sources, in the order of arrival. Closes all of them when one fails, or when the reader stops.
 * @param onEnd ends the waits of silent sources, which could not be closed otherwise
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
  // Not `Promise.race` over all pending reads: each race would stay attached to every silent source until it yields.
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
