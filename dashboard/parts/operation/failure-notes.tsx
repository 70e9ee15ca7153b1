import type { Operation } from "../../../gen/hostplane/v1/operation_pb.ts";
import { Note } from "../note.tsx";
import { Sentence } from "../text/sentence.tsx";

/** Why an operation failed, and what a person has to do about it. */
export function FailureNotes({ operation: { error, attention } }: { readonly operation: Operation }) {
  return (
    <>
      {error !== undefined && (
        <Note tone="bad">
          <span>
            <Sentence text={error.message} /> <code class="quiet">{error.reason}</code>
          </span>
        </Note>
      )}
      {attention !== undefined && (
        <Note tone="warn">
          <strong>What is left</strong>
          <Sentences of={attention.left} />
          {attention.advice.length > 0 && <strong>What to do</strong>}
          <Sentences of={attention.advice} />
        </Note>
      )}
    </>
  );
}

function Sentences({ of }: { readonly of: readonly string[] }) {
  return (
    <ul>
      {of.map((sentence) => (
        <li key={sentence}>
          <Sentence text={sentence} />
        </li>
      ))}
    </ul>
  );
}
