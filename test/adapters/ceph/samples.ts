import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

export type SampleName = "healthy" | "load" | "backfilling" | "osd-down" | "crash" | "crash-archived" | "quota" | "mgr-down";

const answers = z.record(z.string(), z.unknown());

/**
 * Returns a cluster's reply to a command in this state, recorded by test/lab/ceph/record-ceph.ts; undefined if it was not
 * recorded.
 */
export function sampleOf(state: SampleName, command: string): string | undefined {
  const text = readFileSync(join(import.meta.dirname, "samples", `${state}.json`), "utf8");
  const answer = answers.parse(JSON.parse(text))[command];
  return answer === undefined ? undefined : JSON.stringify(answer);
}

/** Returns the reply in that state, or else that of the healthy cluster. */
export function answerIn(state: SampleName, command: string): string {
  const text = sampleOf(state, command) ?? sampleOf("healthy", command);
  if (text === undefined) {
    throw new Error(`no sample of ${command}`);
  }
  return text;
}
