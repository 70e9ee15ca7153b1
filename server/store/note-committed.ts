import { noteEffect } from "../../adapters/host/effect.ts";
import type { Topic } from "./transaction.ts";

/** What callers ask to change. Events, the audit log and kept answers are written about calls, and for them. */
const changes: ReadonlySet<Topic> = new Set(["auth", "clusters", "operations"]);

/** Counts a commit among the changes of the call that asked for it, by the topics that it named. */
export function noteCommitted(topics: Iterable<Topic>): void {
  for (const topic of topics) {
    if (changes.has(topic)) {
      noteEffect("done");
    }
  }
}
