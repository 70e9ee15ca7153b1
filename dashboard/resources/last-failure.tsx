import { Link } from "wouter-preact";
import { FailureNotes } from "../parts/operation/failure-notes.tsx";
import { operationTitle } from "../parts/text/operation-title.ts";
import { TimeText } from "../parts/text/time-text.tsx";
import { useLastFailures } from "./use-last-failures.ts";

/** Why the last operation of a resource failed, and what to do about it; nothing if it did not fail. */
export function LastFailure({ name }: { readonly name: string }) {
  const operation = useLastFailures(name).get(name);
  return operation === undefined ? null : (
    <section aria-label="Last operation">
      <p class="soft">
        Its last operation failed <TimeText at={operation.endedAt ?? operation.createdAt} />:{" "}
        <Link href={`~/operations/${operation.id}`}>{operationTitle(operation)}</Link>
      </p>
      <FailureNotes operation={operation} />
    </section>
  );
}
