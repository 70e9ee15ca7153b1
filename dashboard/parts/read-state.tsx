import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { ErrorNote } from "./error-note.tsx";
import { Skeleton } from "./skeleton.tsx";

/** Shows a value that is read or watched, with the error if there is one, or that it is being loaded. */
export function ReadState<T>(props: {
  readonly of: ReadonlySignal<{ readonly value: T | undefined; readonly error: unknown }>;
  readonly children: (value: T) => ComponentChildren;
}) {
  const { value, error } = props.of.value;
  return (
    <>
      {error !== undefined && <ErrorNote error={error} />}
      {value !== undefined && props.children(value)}
      {value === undefined && error === undefined && <Skeleton />}
    </>
  );
}
