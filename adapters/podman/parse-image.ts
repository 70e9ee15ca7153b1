import { z } from "zod";
import { idOf, listOf, parseReply, someTimeOf, wordsOf } from "./parse-reply.ts";
import type { RuntimeImage } from "./runtime-state.ts";

const row = z.object({
  Id: idOf,
  // Null for an image that lost its last name, as one that another was built over.
  Names: listOf(z.string()),
  // Those that it once had: one that got and lost a name between two lists differs in nothing else.
  History: listOf(z.string()),
  // Changes a little with the names.
  Size: z.union([z.number().int(), z.bigint()]).transform(BigInt),
});

/** What a list tells of an image. */
export type ImageRow = z.infer<typeof row>;

/** Reads the reply to `images/json`. @throws InfraError PODMAN_FAILED */
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

/** Puts together an image from its row of the list and the reply to `images/ID/json`. @throws InfraError PODMAN_FAILED */
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

/** As `application/vnd.oci.image.manifest.v1+json` or `application/vnd.docker.distribution.manifest.v2+json`. */
function formatOf(manifestType: string): Pick<RuntimeImage, "format" | "formatVersion"> {
  const [, vendor, formatVersion = ""] =
    /^application\/vnd\.(oci|docker)\.[a-z.]*\.(v[0-9]+)\+/.exec(manifestType) ?? [];
  return { format: vendor === "oci" || vendor === "docker" ? vendor : "unknown", formatVersion };
}
