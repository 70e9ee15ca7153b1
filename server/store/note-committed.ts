import { noteEffect } from "../../adapters/host/effect.ts";
import type { Topic } from "./transaction.ts";

/** Topics of changes that callers request. Events, the audit log and stored results only accompany calls. */
const changes: ReadonlySet<Topic> = new Set(["auth", "clusters", "operations"]);

/** Counts a commit as a change of the call that requested it, if the commit has a topic of such changes. */
export function noteCommitted(topics: Iterable<Topic>): void {
  for (const topic of topics) {
    if (changes.has(topic)) {
      noteEffect("done");
    }
  }
}
