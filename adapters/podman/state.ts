import { isDeepStrictEqual } from "node:util";
import type { Reason } from "../host/define-reasons.ts";
import { hasReason, InfraError } from "../host/infra-error.ts";
import type { ImageUser } from "./adapter.ts";
import type { PodmanClient } from "./client.ts";
import { type ContainerRow, parseContainer, parseContainerRows } from "./parse/parse-container.ts";
import { type ImageRow, imageFrom, parseImageRows } from "./parse/parse-image.ts";
import { type PodRow, parsePod, parsePodRows, podFrom, uuidFromPodId } from "./parse/parse-pod.ts";
import { podmanReasons } from "./reasons.ts";
import type { RuntimeImage, RuntimePod, RuntimeState } from "./runtime-state.ts";

export interface StateOptions {
  /** Called with the content of full lists. */
  readonly onLists: (pods: readonly PodRow[], containers: readonly ContainerRow[]) => void;
  /** Called with the images added and removed since images were last read. */
  readonly onImages: (added: readonly RuntimeImage[], removed: readonly RuntimeImage[]) => void;
}

/** Keeps what was read, and reads again what was touched since. */
export interface StateReader {
  /** @throws InfraError PODMAN_UNAVAILABLE, PODMAN_DENIED, PODMAN_FAILED */
  load(signal: AbortSignal): Promise<RuntimeState>;
  touchPod(id: string): void;
  touchImages(): void;
  /** Has the lists read again, and everything that differs from the previous lists. */
  touchAll(): void;
}

/** Reads everything that the port reports. `load` must not run twice at once. */
export function createStateReader(client: PodmanClient, { onLists, onImages }: StateOptions): StateReader {
  const pods = new Map<string, RuntimePod>();
  const unreadable = new Map<string, string>();
  /** The list rows of a pod when it was last inspected because of them. */
  const listed = new Map<string, unknown>();
  const images = new Map<string, { readonly row: ImageRow; readonly image: RuntimeImage }>();
  let areImagesKnown = false;
  let touched = { pods: new Set<string>(), images: true, lists: true };

  async function load(signal: AbortSignal): Promise<RuntimeState> {
    const due = touched;
    touched = { pods: new Set(), images: false, lists: false };
    try {
      const podIds = due.lists ? await readLists(due.pods, signal) : [...due.pods];
      await Promise.all([
        ...podIds.map((id) => readPod(id, signal)),
        due.images || due.lists ? readImages(signal) : undefined,
      ]);
    } catch (error) {
      for (const id of due.pods) {
        touched.pods.add(id);
      }
      touched.images ||= due.images;
      touched.lists ||= due.lists;
      throw error;
    }
    return {
      pods: inOrder(pods.values()),
      unreadable: [...unreadable].map(([podId, why]) => ({ podId, podUuid: uuidFromPodId(podId), why })),
      images: inOrder([...images.values()].map(({ image }) => image)),
    };
  }

  /** Returns the pods to inspect: those touched, and those whose rows in the lists have changed. */
  async function readLists(touchedIds: ReadonlySet<string>, signal: AbortSignal): Promise<string[]> {
    const [podRows, containerRows] = await Promise.all([
      readList(client, "pods/json", signal).then(parsePodRows),
      readList(client, "containers/json?all=true", signal).then(parseContainerRows),
    ]);
    onLists(podRows, containerRows);
    const containersOf = Map.groupBy(containerRows, ({ Pod }) => Pod);
    const ids = new Set(podRows.map(({ Id }) => Id));
    for (const id of [...pods.keys(), ...unreadable.keys()].filter((each) => !ids.has(each))) {
      forget(id);
    }
    const changed: string[] = [...touchedIds].filter((id) => !ids.has(id));
    for (const row of podRows) {
      const words = [row, containersOf.get(row.Id)];
      if (touchedIds.has(row.Id) || !isDeepStrictEqual(listed.get(row.Id), words)) {
        changed.push(row.Id);
        listed.set(row.Id, words);
      }
    }
    return changed;
  }

  function forget(id: string): void {
    pods.delete(id);
    unreadable.delete(id);
    listed.delete(id);
  }

  async function readPod(id: string, signal: AbortSignal): Promise<void> {
    try {
      const pod = await inspectPod(client, id, signal);
      pods.set(id, pod);
      unreadable.delete(id);
    } catch (error) {
      listed.delete(id);
      if (!(error instanceof InfraError) || error.is(...away)) {
        throw error;
      }
      if (error.is(podmanReasons.POD_NOT_FOUND)) {
        forget(id);
      } else {
        // A partially removed pod must not prevent the others from being read.
        unreadable.set(id, error.message);
        touched.pods.add(id);
      }
    }
  }

  async function readImages(signal: AbortSignal): Promise<void> {
    const rows = parseImageRows(await readList(client, "images/json", signal));
    const before = new Map(images);
    const found = await Promise.all(rows.map((row) => readImage(row, before, signal)));
    images.clear();
    for (const each of found.filter((entry) => entry !== undefined)) {
      images.set(each.image.id, each);
    }
    if (areImagesKnown) {
      const added = [...images.values()].filter(({ image }) => !before.has(image.id));
      const removed = [...before.values()].filter(({ image }) => !images.has(image.id));
      if (added.length + removed.length > 0) {
        onImages(
          added.map(({ image }) => image),
          removed.map(({ image }) => image),
        );
      }
    }
    areImagesKnown = true;
  }

  async function readImage(row: ImageRow, before: typeof images, signal: AbortSignal) {
    const known = before.get(row.Id);
    if (known !== undefined && isDeepStrictEqual(known.row, row)) {
      return known;
    }
    try {
      return { row, image: imageFrom(row, await client.text(`images/${row.Id}/json`, signal)) };
    } catch (error) {
      if (hasReason(error, podmanReasons.IMAGE_NOT_FOUND)) {
        return undefined;
      }
      throw error;
    }
  }

  return {
    load,
    touchPod: (id) => void touched.pods.add(id),
    touchImages() {
      touched.images = true;
    },
    touchAll() {
      touched.lists = true;
    },
  };
}

/** Queries a pod and each of its containers. @throws InfraError POD_NOT_FOUND and as the client */
export async function inspectPod(
  client: PodmanClient,
  id: string,
  signal: AbortSignal | undefined,
): Promise<RuntimePod> {
  const inspected = parsePod(await client.text(`pods/${id}/json`, signal));
  const members = await Promise.all(
    inspected.facts.Containers.map(async ({ Id }) => {
      try {
        return parseContainer(await client.text(`containers/${Id}/json`, signal));
      } catch (error) {
        if (hasReason(error, podmanReasons.CONTAINER_NOT_FOUND)) {
          return undefined;
        }
        throw error;
      }
    }),
  );
  return podFrom(
    inspected,
    members.filter((member) => member !== undefined),
  );
}

/** Queries an image by its id. @throws InfraError IMAGE_NOT_FOUND and as the client */
export async function inspectImage(
  client: PodmanClient,
  id: string,
  signal: AbortSignal | undefined,
): Promise<RuntimeImage> {
  const [rows, text] = await Promise.all([
    client.text("images/json", signal).then(parseImageRows),
    client.text(`images/${id}/json`, signal),
  ]);
  const row = rows.find(({ Id }) => Id === id);
  if (row === undefined) {
    throw new InfraError(podmanReasons.IMAGE_NOT_FOUND, `image not found: ${id}`);
  }
  return imageFrom(row, text);
}

/** Queries the containers that use an image. @throws InfraError as the client */
export async function readImageUsers(
  client: PodmanClient,
  imageId: string,
  signal: AbortSignal | undefined,
): Promise<readonly ImageUser[]> {
  const rows = parseContainerRows(await readList(client, "containers/json?all=true", signal));
  return rows
    .filter(({ ImageID }) => ImageID.replace(/^sha256:/, "") === imageId)
    .map(({ Id, Names, Pod, IsInfra }) => ({
      containerId: Id,
      name: Names[0] ?? Id,
      podId: Pod === "" ? undefined : Pod,
      podUuid: Pod === "" ? undefined : uuidFromPodId(Pod),
      isInfra: IsInfra,
    }));
}

const listAttempts = 3;

/** Podman itself is unavailable, not only the resource. */
const away: readonly Reason[] = [podmanReasons.PODMAN_UNAVAILABLE, podmanReasons.PODMAN_DENIED];

/** Reads a list. It fails as a whole, e.g. with `no such container`, if an entry is removed while it is created. */
async function readList(client: PodmanClient, path: string, signal?: AbortSignal): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await client.text(path, signal);
    } catch (error) {
      const isAway = !(error instanceof InfraError) || error.is(...away);
      if (isAway || attempt === listAttempts) {
        throw error;
      }
    }
  }
}

function inOrder<T extends { readonly id: string }>(values: Iterable<T>): readonly T[] {
  return [...values].sort((a, b) => (a.id < b.id ? -1 : 1));
}
