import type { RuntimeImage } from "../../../../adapters/podman/runtime-state.ts";
import { type Image, type ImageFilter, ImageFilterSchema } from "../../../../gen/v1alpha/api_pb.ts";
import { imageIdFrom } from "../image-id.ts";
import { imageNameFrom } from "../image-name.ts";
import { assertFilterSizes } from "./filter-sizes.ts";
import { hasAll } from "./key-values.ts";

/** Input of an image filter: the image with all its details, and its message. */
export interface FilteredImage {
  readonly image: Pick<RuntimeImage, "names" | "labels" | "annotations">;
  readonly message: Pick<Image, "id" | "importTimestamp">;
}

/** Reports whether an image matches. */
type ImageTest = (image: FilteredImage) => boolean;

/**
 * Parses image filters. An image matches if all set fields of at least one filter match, or if there are no filters. Any name
 * of an image may match.
 * @throws InfraError INVALID_FIELD for filters that are too large
 */
export function parseImageFilters(filters: readonly ImageFilter[]): ImageTest {
  assertFilterSizes(ImageFilterSchema, filters);
  const tests = filters.map(testFrom);
  return (image) => {
    const names = namesOf(image.image.names);
    return tests.length === 0 || tests.some((test) => test(image, names));
  };
}

/** Returns the names without tags. An image without names has one empty name. */
function namesOf(references: readonly string[]): readonly string[] {
  const names = references.map((reference) => imageNameFrom(reference).name);
  return names.length === 0 ? [""] : names;
}

function testFrom(filter: ImageFilter): (image: FilteredImage, names: readonly string[]) => boolean {
  const { prefixes, keywords, labels, annotations, importedAfter, importedBefore } = filter;
  const ids = new Set(filter.ids.map(imageIdFrom));
  const baseNames = new Set(filter.baseNames);
  const fullNames = new Set(filter.fullNames);
  return ({ image, message }, names) =>
    (ids.size === 0 || ids.has(message.id)) &&
    (fullNames.size === 0 || names.some((name) => fullNames.has(name))) &&
    (baseNames.size === 0 || names.some((name) => baseNames.has(lastPartOf(name)))) &&
    (prefixes.length === 0 || names.some((name) => prefixes.some((prefix) => name.startsWith(prefix)))) &&
    (keywords.length === 0 || names.some((name) => keywords.some((keyword) => name.includes(keyword)))) &&
    hasAll(image.labels, labels) &&
    hasAll(image.annotations, annotations) &&
    (importedAfter <= 0n || message.importTimestamp > importedAfter) &&
    (importedBefore <= 0n || message.importTimestamp < importedBefore);
}

function lastPartOf(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}
