import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

/** Writes SHA256SUMS, which `sha256sum --check` reads, for files of the directory. */
export async function writeChecksums(directory: string, files: readonly string[]): Promise<void> {
  const lines: string[] = [];
  for (const file of files.toSorted()) {
    const hash = createHash("sha256");
    await pipeline(createReadStream(join(directory, file)), hash);
    lines.push(`${hash.digest("hex")}  ${file}\n`);
  }
  await writeFile(join(directory, "SHA256SUMS"), lines.join(""));
}
