import { describeError } from "../../client/describe-error.ts";

/** Shows an error: the gateway's message, the invalid field, and the reason, which can be looked up in the docs. */
export function ErrorNote({ error }: { readonly error: unknown }) {
  const { code, reason, message, field } = describeError(error);
  return (
    <div class="note bad" role="alert">
      <strong>{field === undefined ? "Failed" : `Invalid ${field}`}</strong>
      <div>{message}</div>
      <code class="quiet">{reason === "" ? code : reason}</code>
    </div>
  );
}
