import { type KubernetesListObject, type KubernetesObject, ListWatch, Watch } from "@kubernetes/client-node";
import { backOffMs } from "../host/back-off.ts";
import type { Part } from "../host/part-of-state.ts";
import { isWatchEvent, listFromReply } from "./answered-objects.ts";
import type { ClusterAccess } from "./cluster-access.ts";
import { type Failure, failureFrom, type RequestDescription, replyNotUnderstood } from "./errors.ts";

export interface ObjectWatchOptions {
  readonly access: ClusterAccess;
  readonly path: string;
  /** E.g. `deployments.apps in rook-ceph`. */
  readonly title: string;
  /** Time during which objects are still returned while they cannot be watched. */
  readonly keepMs: number;
  /** Delay before a retry, which doubles with each failure up to the longest. */
  readonly retry: { readonly firstMs: number; readonly longestMs: number };
  readonly onChange: () => void;
  /** Called when the watch has failed for a reason that may affect the whole cluster. */
  readonly onAway: () => void;
}

export interface ObjectWatch {
  /** Undefined until they have been listed for the first time or that has failed. */
  objects(): Part<readonly KubernetesObject[]> | undefined;
  /** Reports whether the cluster does not have the kind. */
  isAbsent(): boolean;
  /** Runs a pending retry at once. */
  retryNow(): void;
  close(): void;
}

/** Maximum delay before the library replaces an ended watch. */
const longestPauseMs = 2_000;

/**
 * Caches the objects at a path, using the library's informer: they are listed once, then watched, and listed again when
 * the history is gone (410). The informer stops on other errors and is restarted here.
 */
export function createObjectWatch(options: ObjectWatchOptions): ObjectWatch {
  const { access, path, title, keepMs, retry, onChange, onAway } = options;
  let informer = createInformer();
  let isListed = false;
  let doing: "list" | "watch" = "list";
  let failure: (Failure & { readonly sinceMs: number }) | undefined;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function createInformer(): ListWatch<KubernetesObject> {
    const created: ListWatch<KubernetesObject> = new ListWatch(
      path,
      createWatch(),
      list,
      false,
      undefined,
      undefined,
      {
        delayFn: pause,
      },
    );
    created.on("change", onChange);
    created.on("error", fail);
    return created;
  }

  async function list(): Promise<KubernetesListObject<KubernetesObject>> {
    doing = "list";
    const list = listFromReply(await access.getJson(path));
    if (list === undefined) {
      throw replyNotUnderstood(describeRequest());
    }
    return list;
  }

  /**
   * Wraps the library's watch so that it also reports when it is established, requests bookmarks, and never rejects,
   * since rejections would not be caught.
   */
  function createWatch(): Watch {
    const watch = new Watch(access.kubeConfig);
    const begin = watch.watch.bind(watch);
    watch.watch = async (of, query, onEvent, onDone) => {
      if (isClosed) {
        return new AbortController();
      }
      // A watch follows a successful list.
      isListed = true;
      doing = "watch";
      onChange();
      let isEnded = false;
      let isStanding = false;
      function end(error: unknown): void {
        if (isEnded) {
          return;
        }
        isEnded = true;
        if (!isStanding && isTimeout(error)) {
          // The informer treats this as the end of a quiet watch, and does not report it.
          note(failureFrom(error, describeRequest()));
        }
        failBy(onDone(error));
      }
      function onEventOrError(type: string, object: unknown): void {
        if (isEnded) {
          return;
        }
        if (isWatchEvent(type, object)) {
          failBy(onEvent(type, object));
        } else {
          // After any error, the watch may be unable to continue from the list; the library lists again only on 410.
          end(Object.assign(new Error(JSON.stringify({ type, object })), { statusCode: 410 }));
        }
      }
      try {
        const stop = await begin(of, { ...query, allowWatchBookmarks: true }, onEventOrError, end);
        if (isClosed) {
          // The informer was stopped while the watch was starting.
          stop.abort();
        } else if (!isEnded) {
          isStanding = true;
          stand();
        }
        return stop;
      } catch (error) {
        end(error);
        return new AbortController();
      }
    };
    return watch;
  }

  function stand(): void {
    failures = 0;
    if (failure !== undefined) {
      failure = undefined;
      onChange();
    }
  }

  function describeRequest(): RequestDescription {
    return { verb: doing, what: title, access: access.describe() };
  }

  function note(next: Failure): void {
    failure = { ...next, sinceMs: failure?.sinceMs ?? performance.now() };
    onChange();
    if (next.kind === "away") {
      onAway();
    }
  }

  function fail(error: unknown): void {
    if (isClosed) {
      return;
    }
    note(failureFrom(error, describeRequest()));
    failures += 1;
    clearTimeout(timer);
    timer = setTimeout(begin, backOffMs(failures, retry)).unref();
  }

  /** Catches errors of the library's asynchronous callbacks, which the library itself does not. */
  function failBy(work: unknown): void {
    Promise.resolve(work).catch(fail);
  }

  function begin(): void {
    timer = undefined;
    if (failure?.kind === "refused") {
      // The previous list is no longer valid.
      void informer.stop();
      informer = createInformer();
      isListed = false;
    }
    failBy(informer.start());
  }

  begin();
  return {
    objects() {
      const isKnown = isListed && failure?.kind !== "refused";
      const isKept = failure === undefined || performance.now() - failure.sinceMs <= keepMs;
      if (isKnown && isKept) {
        return { ok: informer.list() };
      }
      return failure === undefined ? undefined : { missing: failure.error.message };
    },
    isAbsent: () => failure?.statusCode === 404,
    retryNow() {
      if (timer !== undefined) {
        clearTimeout(timer);
        begin();
      }
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      void informer.stop();
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.min(ms, longestPauseMs)).unref());
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}
