import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { ErrorNote } from "./error-note.tsx";

/** Shows what was read or is watched, the error when there is one beside the last value, or that it is on its way. */
export function ReadState<T>(props: {
  readonly of: ReadonlySignal<{ readonly value: T | undefined; readonly error: unknown }>;
  readonly children: (value: T) => ComponentChildren;
}) {
  const { value, error } = props.of.value;
  return (
    <>
      {error !== undefined && <ErrorNote error={error} />}
      {value !== undefined && props.children(value)}
      {value === undefined && error === undefined && (
        <p role="status" class="reading">
          Reading …
        </p>
      )}
    </>
  );
}
