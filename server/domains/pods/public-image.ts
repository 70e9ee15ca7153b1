import { create } from "@bufbuild/protobuf";
import type { RuntimeImage } from "../../../adapters/podman/runtime-state.ts";
import {
  type Image,
  type ImageFormat,
  ImageFormatSchema,
  ImageSchema,
  ImageType,
} from "../../../gen/v1alpha/api_pb.ts";
import { imageNameFrom } from "./image-name.ts";
import { keyValues } from "./key-values.ts";

/** Images by their ids. */
export type KnownImages = ReadonlyMap<string, RuntimeImage>;

export function imagesById(images: readonly RuntimeImage[]): KnownImages {
  return new Map(images.map((image) => [image.id, image]));
}

const typeOfFormat: Readonly<Record<RuntimeImage["format"], ImageType>> = {
  oci: ImageType.OCI,
  docker: ImageType.DOCKER,
  unknown: ImageType.UNDEFINED,
};

/**
 * An image as v1alpha.PublicAPI tells it, without its manifest. Where each field comes from is in docs/pods.md.
 * @param importedAtNs nanoseconds since 1970; when it was built counts if that is not known
 */
export function publicImage(image: RuntimeImage, importedAtNs = image.createdAtNs): Image {
  return create(ImageSchema, {
    baseFormat: formatOf(image),
    id: image.id,
    ...imageNameFrom(image.names[0] ?? ""),
    importTimestamp: importedAtNs / 1_000_000_000n,
    size: image.sizeBytes,
    annotations: keyValues(image.annotations),
    labels: keyValues(image.labels),
  });
}

/** What an app tells of its image: its name is that by which the app was made. */
export function publicImageOfApp(
  { id, name }: { readonly id: string; readonly name: string },
  images: KnownImages,
): Image {
  return create(ImageSchema, { baseFormat: formatOf(images.get(id)), id, ...imageNameFrom(name) });
}

/** Of an image that is gone nothing is known. */
function formatOf(image: RuntimeImage | undefined): ImageFormat {
  return create(ImageFormatSchema, {
    type: typeOfFormat[image?.format ?? "unknown"],
    version: image?.formatVersion ?? "",
  });
}
