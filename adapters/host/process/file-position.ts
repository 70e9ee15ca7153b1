import { readFile } from "node:fs/promises";
import type { OpenFile } from "./tool-process.ts";

/**
 * Returns the position of an open file in bytes, which is how much has been read or written through it. A tool that got
 * the file as its stdin or stdout shares the position, even behind a wrapper such as sudo, so this shows the tool's
 * progress, and its total afterwards. Linux only (proc(5), `/proc/<pid>/fdinfo`).
 */
export async function filePosition(file: OpenFile): Promise<number> {
  const facts = await readFile(`/proc/self/fdinfo/${file.fd}`, "latin1");
  return Number(/^pos:\s+(\d+)$/m.exec(facts)?.[1]);
}
