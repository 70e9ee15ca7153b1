import { setTimeout as delay } from "node:timers/promises";
import { backOffMs } from "../host/back-off.ts";
import type { Part } from "../host/part-of-state.ts";
import {
  type KubernetesObject,
  listFromReply,
  type WatchEvent,
  watchEventFromLine,
} from "./answered-objects.ts";
import type { ClusterAccess } from "./cluster-access.ts";
import { type Failure, failureFrom, replyNotUnderstood } from "./errors.ts";

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

/** A watch without any data for this time is replaced: its connection may be dead. Servers send bookmarks each minute. */
const quietMs = 90_000;
/** Least interval between two watches that bring nothing. */
const pauseMs = 1_000;

/**
 * Caches the objects at a path: lists them once, then watches them from the version of the list. A watch that ends is
 * continued by another one; an error that the server sends in it, as for a history that is gone, by a new list. A failed
 * request is retried.
 */
export function createObjectWatch(options: ObjectWatchOptions): ObjectWatch {
  const { access, path, title, keepMs, retry, onChange, onAway } = options;
  const closed = new AbortController();
  let objects: Map<string, KubernetesObject> | undefined;
  /** Version from which a watch continues; undefined: list first. */
  let version: string | undefined;
  let failure: (Failure & { readonly sinceMs: number }) | undefined;
  let failures = 0;
  let wake = () => {};

  async function list(): Promise<void> {
    const reply = listFromReply(await access.getJson(path));
    if (reply === undefined) {
      throw replyNotUnderstood({ verb: "list", what: title });
    }
    objects = new Map(reply.items.map((object) => [keyOf(object), object]));
    version = reply.metadata.resourceVersion;
    onChange();
  }

  async function watch(from: string): Promise<void> {
    const query = new URLSearchParams({ watch: "true", allowWatchBookmarks: "true", resourceVersion: from });
    const lines = await access.getLines(`${path}?${query}`, quietMs, closed.signal);
    failures = 0;
    if (failure !== undefined) {
      failure = undefined;
      onChange();
    }
    for await (const line of lines) {
      const event = watchEventFromLine(line);
      // After any error, the watch may be unable to continue from the list.
      version = event?.object.metadata.resourceVersion;
      if (event === undefined || version === undefined) {
        return;
      }
      apply(event);
    }
  }

  function apply(event: WatchEvent): void {
    if (event.type === "BOOKMARK") {
      return;
    }
    const key = keyOf(event.object);
    if (event.type === "DELETED") {
      objects?.delete(key);
    } else {
      objects?.set(key, event.object);
    }
    onChange();
  }

  /** Lists if necessary, then watches until the watch ends. */
  async function follow(): Promise<void> {
    let doing: "list" | "watch" = "list";
    const startedAtMs = performance.now();
    const startedFrom = version;
    try {
      if (version === undefined) {
        await list();
      }
      doing = "watch";
      await watch(version ?? "");
    } catch (error) {
      const next = failureFrom(error, { verb: doing, what: title, access: access.describe() });
      if (next.statusCode === 410) {
        version = undefined;
      } else if (!isQuiet(error)) {
        await noteAndWait(next);
        return;
      }
    }
    if (version === startedFrom) {
      await pause(Math.max(0, pauseMs - (performance.now() - startedAtMs)));
    }
  }

  async function noteAndWait(next: Failure): Promise<void> {
    if (closed.signal.aborted) {
      return;
    }
    failure = { ...next, sinceMs: failure?.sinceMs ?? performance.now() };
    failures += 1;
    if (next.kind === "refused") {
      // The previous list is no longer valid.
      objects = undefined;
      version = undefined;
    }
    onChange();
    const waiting = pause(backOffMs(failures, retry));
    if (next.kind === "away") {
      onAway();
    }
    await waiting;
  }

  /** Waits for a time, or until `wake` or the end. */
  async function pause(ms: number): Promise<void> {
    const woken = new AbortController();
    wake = () => woken.abort();
    const signal = AbortSignal.any([woken.signal, closed.signal]);
    await delay(ms, undefined, { ref: false, signal }).catch(() => {});
    wake = () => {};
  }

  async function followUntilClosed(): Promise<void> {
    while (!closed.signal.aborted) {
      await follow();
    }
  }

  void followUntilClosed();
  return {
    objects() {
      const isKept = failure === undefined || performance.now() - failure.sinceMs <= keepMs;
      if (objects !== undefined && isKept) {
        return { ok: [...objects.values()] };
      }
      return failure === undefined ? undefined : { missing: failure.error.message };
    },
    isAbsent: () => failure?.statusCode === 404,
    retryNow: () => wake(),
    close: () => closed.abort(),
  };
}

function keyOf({ metadata: { name, namespace = "" } }: KubernetesObject): string {
  return `${namespace}/${name}`;
}

/** Reports whether an established watch had no data for a time. */
function isQuiet(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "UND_ERR_BODY_TIMEOUT";
}
