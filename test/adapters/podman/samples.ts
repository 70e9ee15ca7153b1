import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** What a Podman 4.3.1 answered, recorded by test/lab/record-podman.ts. */
const read = (name: string): string => readFileSync(join(import.meta.dirname, "samples", name), "utf8");

const replies = z.record(z.string(), z.string());

/** The reply that tells of this, such as `runningPod`. */
export function replyOf(name: string): string {
  const text = replies.parse(JSON.parse(read("replies.json")))[name];
  if (text === undefined) {
    throw new Error(`no sample of ${name}`);
  }
  return text;
}

/** Refusals by what was asked. */
export function refusals() {
  const refusal = z.object({ status: z.number(), text: z.string() });
  return z.record(z.string(), refusal).parse(JSON.parse(read("refusals.json")));
}

/** The bytes of a container's log with its frames. */
export function logOf(name: "ticker" | "odd"): Uint8Array {
  return Buffer.from(replies.parse(JSON.parse(read("logs.json")))[name] ?? "", "base64");
}

/** Everything that was recorded, a record a line. */
export function eventsText(): string {
  return read("events.ndjson");
}
