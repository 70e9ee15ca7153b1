import { z } from "zod";
import type { RuntimeImage } from "../runtime-state.ts";
import { idOf, listOf, parseReply, someTimeOf, wordsOf } from "./parse-reply.ts";

const row = z.object({
  Id: idOf,
  // Null for an image that lost its last name, e.g. because a newer build took it.
  Names: listOf(z.string()),
  // Former names: an image that got and lost a name between two lists differs in nothing else.
  History: listOf(z.string()),
  // Changes slightly with the names.
  Size: z.union([z.number().int(), z.bigint()]).transform(BigInt),
});

/** An image as it appears in lists. */
export type ImageRow = z.infer<typeof row>;

/** Parses the reply to `images/json`. @throws InfraError PODMAN_FAILED */
export function parseImageRows(text: string): readonly ImageRow[] {
  return parseReply("images/json", listOf(row), text);
}

const image = z.object({
  Id: idOf,
  Created: someTimeOf,
  Labels: wordsOf,
  Annotations: wordsOf,
  ManifestType: z.string().default(""),
});

/** Combines an image's row in the list with the reply to `images/ID/json`. @throws InfraError PODMAN_FAILED */
export function imageFrom({ Names, Size }: Pick<ImageRow, "Names" | "Size">, text: string): RuntimeImage {
  const { Id, Created, Labels, Annotations, ManifestType } = parseReply("images/ID/json", image, text);
  return {
    id: Id,
    names: Names,
    sizeBytes: Size,
    createdAtNs: Created,
    ...formatOf(ManifestType),
    labels: Labels,
    annotations: Annotations,
    document: text.trim(),
  };
}

/** Parses `application/vnd.oci.image.manifest.v1+json` or `application/vnd.docker.distribution.manifest.v2+json`. */
function formatOf(manifestType: string): Pick<RuntimeImage, "format" | "formatVersion"> {
  const [, vendor, formatVersion = ""] =
    /^application\/vnd\.(oci|docker)\.[a-z.]*\.(v[0-9]+)\+/.exec(manifestType) ?? [];
  return { format: vendor === "oci" || vendor === "docker" ? vendor : "unknown", formatVersion };
}
