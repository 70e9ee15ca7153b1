import { create } from "@bufbuild/protobuf";
import type { RuntimeImage } from "../../../../adapters/podman/runtime-state.ts";
import {
  type Image,
  type ImageFormat,
  ImageFormatSchema,
  ImageSchema,
  ImageType,
} from "../../../../gen/v1alpha/api_pb.ts";
import { imageNameFrom } from "../image-name.ts";
import { keyValues } from "./key-values.ts";

/** Images by their ids. */
export type KnownImages = ReadonlyMap<string, RuntimeImage>;

/** Indexes images, to find those of containers. */
export function imagesById(images: readonly RuntimeImage[]): KnownImages {
  return new Map(images.map((image) => [image.id, image]));
}

const typeOfFormat: Readonly<Record<RuntimeImage["format"], ImageType>> = {
  oci: ImageType.OCI,
  docker: ImageType.DOCKER,
  unknown: ImageType.UNDEFINED,
};

/**
 * Converts an image to the format of v1alpha.PublicAPI, without its manifest. The source of each field is listed in
 * docs/reference/domains/pods.md.
 * @param importedAtNs nanoseconds since 1970; defaults to the build time if unknown
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

/** Converts the image of an app, under the name with which the app was created. */
export function publicImageOfApp(
  { id, name }: { readonly id: string; readonly name: string },
  images: KnownImages,
): Image {
  return create(ImageSchema, { baseFormat: formatOf(images.get(id)), id, ...imageNameFrom(name) });
}

/** The format of a removed image is unknown. */
function formatOf(image: RuntimeImage | undefined): ImageFormat {
  return create(ImageFormatSchema, {
    type: typeOfFormat[image?.format ?? "unknown"],
    version: image?.formatVersion ?? "",
  });
}
