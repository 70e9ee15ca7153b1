import { z } from "zod";
import { InfraError } from "../host/infra-error.ts";
import type { CephMdss, CephPool } from "./adapter.ts";
import type { RadosOptions } from "./librados.ts";
import { parseReply } from "./parse/parse-reply.ts";
import type { RadosClient } from "./rados-client.ts";
import { cephReasons } from "./reasons.ts";

const namePrefix = "name_";

/**
 * Counts the images of all RBD pools and their namespaces, using the directories that librbd keeps in them:
 * `name_IMAGE` in `rbd_directory` and `name_NAMESPACE` in `rbd_namespace`. Images in the trash are in another
 * directory. Needs only read access.
 * @throws InfraError as `RadosClient.omapKeys`
 */
export async function countRbdImages(
  client: RadosClient,
  as: RadosOptions,
  pools: readonly CephPool[],
): Promise<number> {
  let images = 0;
  for (const { name: pool } of pools.filter(({ applications }) => applications.includes("rbd"))) {
    const keysIn = (namespace: string, name: string) =>
      client.omapKeys({ pool, namespace, name }, namePrefix, as);
    const namespaces = (await keysIn("", "rbd_namespace")).map((key) => key.slice(namePrefix.length));
    for (const namespace of ["", ...namespaces]) {
      images += (await keysIn(namespace, "rbd_directory")).length;
    }
  }
  return images;
}

const named = z.array(z.object({ name: z.string() }));

/**
 * Counts the subvolumes of all filesystems and groups.
 * @throws InfraError CEPH_UNAVAILABLE for a filesystem without an active metadata server, for which the manager would
 *   wait, and as `RadosClient.command`
 */
export async function countSubvolumes(
  client: RadosClient,
  as: RadosOptions,
  { filesystems }: CephMdss,
): Promise<number> {
  let subvolumes = 0;
  for (const { name, servers } of filesystems) {
    if (!servers.some(({ state }) => state === "up:active")) {
      throw new InfraError(
        cephReasons.CEPH_UNAVAILABLE,
        `the filesystem ${name} has no active metadata server`,
      );
    }
    const list = async (prefix: string, group: Readonly<Record<string, string>>) =>
      parseReply(prefix, named, await client.command("mgr", { prefix, vol_name: name, ...group }, as));
    const groups = await list("fs subvolumegroup ls", {});
    for (const group of [{}, ...groups.map((each) => ({ group_name: each.name }))]) {
      subvolumes += (await list("fs subvolume ls", group)).length;
    }
  }
  return subvolumes;
}
