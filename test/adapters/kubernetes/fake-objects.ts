import { type WatchedName, watchedNames } from "../../../adapters/kubernetes/resources.ts";
import type { Manifest, Manifests } from "../../../adapters/kubernetes/sandbox-cluster.ts";

export interface FakeEvent {
  readonly version: number;
  readonly kind: WatchedName;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: object;
}

/** The objects of a cluster and their history, with resource versions that increase across all kinds. */
export interface FakeObjects {
  put(kind: WatchedName, object: Manifest): void;
  remove(kind: WatchedName, name: string): void;
  removeAll(kind: WatchedName): void;
  list(kind: WatchedName): { readonly resourceVersion: string; readonly items: readonly object[] };
  /** Returns the events of a kind since a version, or the version up to which the history was discarded. */
  since(
    kind: WatchedName,
    version: number,
  ): { readonly events: readonly FakeEvent[] } | { readonly compactedAt: number };
  /** Discards the history. */
  compact(): void;
}

export function createFakeObjects(seeds: Manifests, onEvent: (event: FakeEvent) => void): FakeObjects {
  let version = 1;
  let compactedAt = 0;
  let history: FakeEvent[] = [];
  const stored = new Map(watchedNames.map((kind) => [kind, new Map<string, Manifest>()]));

  function objectsOf(kind: WatchedName): Map<string, Manifest> {
    return stored.get(kind) ?? new Map();
  }

  function emit(kind: WatchedName, type: FakeEvent["type"], { metadata, ...rest }: Manifest): Manifest {
    version += 1;
    const { name } = metadata;
    const numbered = { ...metadata, resourceVersion: String(version), uid: `uid-of-${kind}-${name}` };
    const object = { ...rest, metadata: numbered };
    const event = { version, kind, type, object };
    history.push(event);
    onEvent(event);
    return object;
  }

  function put(kind: WatchedName, object: Manifest): void {
    const { name } = object.metadata;
    const objects = objectsOf(kind);
    objects.set(name, emit(kind, objects.has(name) ? "MODIFIED" : "ADDED", object));
  }

  function remove(kind: WatchedName, name: string): void {
    const object = objectsOf(kind).get(name);
    if (object === undefined) {
      throw new Error(`there is no ${kind} ${name}`);
    }
    objectsOf(kind).delete(name);
    emit(kind, "DELETED", object);
  }

  for (const kind of watchedNames) {
    for (const seed of seeds[kind]) {
      put(kind, seed);
    }
  }
  return {
    put,
    remove,
    removeAll(kind) {
      for (const name of [...objectsOf(kind).keys()]) {
        remove(kind, name);
      }
    },
    list: (kind) => ({ resourceVersion: String(version), items: [...objectsOf(kind).values()] }),
    since(kind, from) {
      return from < compactedAt
        ? { compactedAt }
        : { events: history.filter((event) => event.kind === kind && event.version > from) };
    },
    compact() {
      history = [];
      compactedAt = version;
    },
  };
}
