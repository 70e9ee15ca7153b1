import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** Replies of Podman 4.3.1, recorded by test/lab/podman/record-podman.ts. */
const read = (name: string): string => readFileSync(join(import.meta.dirname, "samples", name), "utf8");

const replies = z.record(z.string(), z.string());

/** Returns the reply of this name, e.g. `runningPod`. */
export function replyOf(name: string): string {
  const text = replies.parse(JSON.parse(read("replies.json")))[name];
  if (text === undefined) {
    throw new Error(`no sample of ${name}`);
  }
  return text;
}

/** Returns refusals by the name of their request. */
export function refusals() {
  const refusal = z.object({ status: z.number(), text: z.string() });
  return z.record(z.string(), refusal).parse(JSON.parse(read("refusals.json")));
}

/** Returns the bytes of a container's log, with frames. */
export function logOf(name: "ticker" | "odd"): Uint8Array {
  return Buffer.from(replies.parse(JSON.parse(read("logs.json")))[name] ?? "", "base64");
}

/** Returns all recorded events, one per line. */
export function eventsText(): string {
  return read("events.ndjson");
}
