import { describeError } from "../../client/describe-error.ts";

/** Shows why something did not work, in the gateway's words, with the field that is wrong and the reason by which docs find it. */
export function ErrorNote({ error }: { readonly error: unknown }) {
  const { code, reason, message, field } = describeError(error);
  return (
    <div class="note bad" role="alert">
      <strong>{field === undefined ? "It did not work" : `${field} is not right`}</strong>
      <div>{message}</div>
      <code class="quiet">{reason === "" ? code : reason}</code>
    </div>
  );
}
