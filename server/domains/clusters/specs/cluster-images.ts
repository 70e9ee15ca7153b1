import type { MaasAdapter } from "../../../../adapters/maas/adapter.ts";
import { type ClusterImage, clusterImageFrom } from "../bootstrap/image-name.ts";
import type { InstanceType } from "../bootstrap/instance-type.ts";
import { compareKubernetesVersions, type KubernetesVersion } from "../bootstrap/kubernetes-version.ts";

/** Images that machines can be deployed with. */
export interface OfferedImages {
  /** Distinct versions, oldest first. */
  versionsOf(instanceType: InstanceType): readonly KubernetesVersion[];
  /** Name of the image for `deploy`; undefined when there is none. */
  seriesOf(instanceType: InstanceType, version: KubernetesVersion): string | undefined;
}

/** The MAAS images that contain Kubernetes. */
export interface ClusterImages {
  /**
   * Lists the images. The result may be up to 30 s old and is shared by all callers.
   * @throws InfraError as `MaasAdapter.images`
   */
  read(): Promise<OfferedImages>;
}

const freshMs = 30_000;

/** Reads nothing until the first call, and nothing in the background. */
export function createClusterImages(maas: Pick<MaasAdapter, "images">): ClusterImages {
  let latest: { readonly atMs: number; readonly images: Promise<OfferedImages> } | undefined;

  async function load(): Promise<OfferedImages> {
    const images = await maas.images();
    return offeredImagesFrom(images.map(({ name }) => name));
  }

  return {
    read() {
      if (latest === undefined || performance.now() - latest.atMs > freshMs) {
        const images = load();
        const mine = { atMs: performance.now(), images };
        latest = mine;
        // An error is returned only to the current callers and not cached.
        images.catch(() => {
          if (latest === mine) {
            latest = undefined;
          }
        });
      }
      return latest.images;
    },
  };
}

/** Parses image names. @param names of boot resources; those that are not images for clusters are ignored */
export function offeredImagesFrom(names: readonly string[]): OfferedImages {
  const named = names.flatMap((name) => {
    const image = clusterImageFrom(name);
    return image === undefined ? [] : [{ name, image }];
  });
  const isOf = (image: ClusterImage, type: InstanceType, version: KubernetesVersion) =>
    image.instanceType === type && compareKubernetesVersions(image.version, version) === 0;
  return {
    versionsOf: (type) =>
      named
        .map(({ image }) => image)
        .filter(
          (image, index, all) =>
            image.instanceType === type &&
            all.findIndex((other) => isOf(other, type, image.version)) === index,
        )
        .map(({ version }) => version)
        .toSorted(compareKubernetesVersions),
    seriesOf: (type, version) => named.find(({ image }) => isOf(image, type, version))?.name,
  };
}
