import { open, rename, rm } from "node:fs/promises";
import { deserialize, serialize } from "node:v8";
import type { ResourcesDump } from "./resource-histories.ts";
import type { Span } from "./span.ts";
import type { SystemDump } from "./system-histories.ts";

/** A part of the file. The header is the first one; the numbers of sources are positions in its list. */
export type SavedPart =
  | {
      readonly part: "header";
      readonly stepMs: number;
      readonly firstTick: number;
      readonly tick: number;
      readonly sources: readonly string[];
    }
  | { readonly part: "readings"; readonly source: number; readonly spans: readonly Span[] }
  | { readonly part: "system"; readonly system: SystemDump }
  | { readonly part: "resources"; readonly resources: ResourcesDump };

/** At the start of a file, and at its end, so that one that was cut off is recognized. */
const mark = Buffer.from("hostplane history 1\n");
const lengthBytes = 4;

/** Writes a file, replacing the old one when it is complete. Parts are encoded one by one, with other work in between. */
export async function writeSavedHistory(file: string, parts: Iterable<SavedPart>): Promise<void> {
  const unfinished = `${file}.new`;
  const handle = await open(unfinished, "w", 0o600);
  try {
    await handle.write(mark);
    for (const part of parts) {
      const bytes = serialize(part);
      const length = Buffer.alloc(lengthBytes);
      length.writeUInt32LE(bytes.length);
      await handle.writev([length, bytes]);
    }
    await handle.write(mark);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
}

/** Reads the parts of a file; none if it does not exist. @throws Error for a file that is not complete */
export async function* readSavedHistory(file: string): AsyncGenerator<SavedPart, void> {
  const handle = await open(file, "r").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return undefined;
    }
    throw error;
  });
  if (handle === undefined) {
    return;
  }
  try {
    const end = (await handle.stat()).size - mark.length;
    const read = async (position: number, length: number): Promise<Buffer> => {
      if (position < 0 || position + length > end + mark.length) {
        throw new Error(`${file} is not a complete history`);
      }
      const { buffer } = await handle.read(Buffer.alloc(length), 0, length, position);
      return buffer;
    };
    if (!mark.equals(await read(0, mark.length)) || !mark.equals(await read(end, mark.length))) {
      throw new Error(`${file} is not a complete history`);
    }
    for (let position = mark.length; position < end; ) {
      const length = (await read(position, lengthBytes)).readUInt32LE();
      yield deserialize(await read(position + lengthBytes, length)) as SavedPart;
      position += lengthBytes + length;
    }
  } finally {
    await handle.close();
  }
}
