import { readFile } from "node:fs/promises";
import type { OpenFile } from "./tool-process.ts";

/**
 * How many bytes from its beginning an open file stands: how much has been read or written through it. A tool that was
 * given the file as its stdin or stdout shares the place, also from behind a wrapper such as sudo, so this tells how far it
 * is, and afterwards how much it did. Linux only (proc(5), `/proc/<pid>/fdinfo`).
 */
export async function filePosition(file: OpenFile): Promise<number> {
  const facts = await readFile(`/proc/self/fdinfo/${file.fd}`, "latin1");
  return Number(/^pos:\s+(\d+)$/m.exec(facts)?.[1]);
}
