import { describeError } from "../../client/describe-error.ts";
import { Note } from "./note.tsx";

/** Shows an error: the gateway's message, the invalid field, and the reason, which can be looked up in the docs. */
export function ErrorNote({ error }: { readonly error: unknown }) {
  const { code, reason, message, field } = describeError(error);
  return (
    <Note tone="bad" role="alert">
      <strong>{field === undefined ? "Failed" : `Invalid ${field}`}</strong>
      <div>{message}</div>
      <code class="quiet">{reason === "" ? code : reason}</code>
    </Note>
  );
}
