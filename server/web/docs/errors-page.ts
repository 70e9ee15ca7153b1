import type { ErrorTable } from "../../rpc/openapi/error-table.ts";
import { type Html, html } from "../html.ts";
import { reasonAnchor } from "./anchors.ts";
import { inlineHtml } from "./contract-text.ts";

/** Renders the errors that every call can return, and the table of all error reasons. */
export function errorsPage(errors: ErrorTable): Html {
  const rows = errors.rows.map(
    ({
      reason,
      code,
      connectStatus,
      restStatus,
      retryable,
      meaning,
    }) => html`<tr id="${reasonAnchor(reason)}">
<th scope="row"><code>${reason}</code></th><td>${code}, HTTP ${String(connectStatus)}${restStatus === connectStatus ? "" : `, REST ${restStatus}`}${retryable ? ", retryable" : ""}</td><td>${inlineHtml(meaning)}</td></tr>
`,
  );
  const everyCall = errors.ofEveryCall.map(
    ({ reason }, index) => html`${index === 0 ? "" : ", "}<a href="#${reasonAnchor(reason)}">${reason}</a>`,
  );
  return html`<h1 id="errors">Errors</h1>
<p>Every error has a code, a sentence for people, and <code>google.rpc.ErrorInfo</code> with a reason of this table, the
domain <code>hostplane</code>, and in its metadata whether the same call may succeed later (<code>retryable</code>). Fields
that were refused are in <code>google.rpc.BadRequest</code>; <code>google.rpc.RetryInfo</code> says when to retry.</p>
<p id="errors-of-every-call">Every call may return ${everyCall}. Each RPC lists its further errors.</p>
<table><caption>Reasons</caption>
<thead><tr><th scope="col">Reason</th><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead><tbody>${rows}</tbody></table>
`;
}
