import { type KubernetesListObject, type KubernetesObject, ListWatch, Watch } from "@kubernetes/client-node";
import { backOffMs } from "../host/back-off.ts";
import type { Part } from "../host/part-of-state.ts";
import { isWatchEvent, listFromReply } from "./answered-objects.ts";
import type { ClusterAccess } from "./cluster-access.ts";
import { type Asked, type Failure, failureFrom, replyNotUnderstood } from "./errors.ts";

export interface ObjectWatchOptions {
  readonly access: ClusterAccess;
  readonly path: string;
  /** As `deployments.apps in rook-ceph`. */
  readonly title: string;
  /** For how long objects are told that cannot be watched at the moment. */
  readonly keepMs: number;
  /** How long after a failure it is tried again, twice as long each time up to the longest. */
  readonly retry: { readonly firstMs: number; readonly longestMs: number };
  readonly onChange: () => void;
  /** The watch has broken off, for a reason that may be of the whole cluster. */
  readonly onAway: () => void;
}

export interface ObjectWatch {
  /** Undefined until they are listed for the first time, or that has failed. */
  objects(): Part<readonly KubernetesObject[]> | undefined;
  /** Whether the cluster does not have the kind. */
  isAbsent(): boolean;
  /** Tries again at once what is to be tried again. */
  retryNow(): void;
  close(): void;
}

/** How long the library waits at most before it follows a watch that has ended by the next. */
const longestPauseMs = 2_000;

/**
 * Keeps the objects at a path, by the library's informer: they are listed once and then watched, and listed anew when their
 * history is gone (410). What ends with an error is begun again here.
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
    const made: ListWatch<KubernetesObject> = new ListWatch(
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
    made.on("change", onChange);
    made.on("error", fail);
    return made;
  }

  async function list(): Promise<KubernetesListObject<KubernetesObject>> {
    doing = "list";
    const list = listFromReply(await access.getJson(path));
    if (list === undefined) {
      throw replyNotUnderstood(asked());
    }
    return list;
  }

  /** The library's, which tells also when a watch stands, asks for bookmarks, and rejects nothing: nobody would catch it. */
  function createWatch(): Watch {
    const watch = new Watch(access.kubeConfig);
    const begin = watch.watch.bind(watch);
    watch.watch = async (of, query, onEvent, onDone) => {
      if (isClosed) {
        return new AbortController();
      }
      // Only what is listed is watched.
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
          // The informer takes this for the end of a quiet watch, and tells nobody.
          note(failureFrom(error, asked()));
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
          // Whatever the error is, what was listed may not be followed from there; the library knows that of 410 alone.
          end(Object.assign(new Error(JSON.stringify({ type, object })), { statusCode: 410 }));
        }
      }
      try {
        const stop = await begin(of, { ...query, allowWatchBookmarks: true }, onEventOrError, end);
        if (isClosed) {
          // The informer was stopped before it had this to stop.
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

  function asked(): Asked {
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
    note(failureFrom(error, asked()));
    failures += 1;
    clearTimeout(timer);
    timer = setTimeout(begin, backOffMs(failures, retry)).unref();
  }

  /** The library's callbacks are asynchronous, and leave it to their caller to catch what they throw. */
  function failBy(work: unknown): void {
    Promise.resolve(work).catch(fail);
  }

  function begin(): void {
    timer = undefined;
    if (failure?.kind === "refused") {
      // What was listed before is not what there will be.
      void informer.stop();
      informer = createInformer();
      isListed = false;
    }
    failBy(informer.start());
  }

  begin();
  return {
    objects() {
      const isTold = isListed && failure?.kind !== "refused";
      const isKept = failure === undefined || performance.now() - failure.sinceMs <= keepMs;
      if (isTold && isKept) {
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
