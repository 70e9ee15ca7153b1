import { methodPathOf } from "../../rpc/call/method-rule.ts";
import { type DocumentedMethod, takesIdempotencyKey } from "../../rpc/openapi/documented-method.ts";
import { exampleRequest } from "../../rpc/openapi/example-request.ts";
import type { DocumentedContract } from "../../rpc/openapi/openapi-document.ts";
import { eventStreamMethodOf } from "../../rpc/protocols/sse/event-stream-methods.ts";
import { type Html, html } from "../html.ts";
import { errorsPath, messageAnchor, methodAnchor, reasonAnchor } from "./anchors.ts";
import { commentHtml } from "./contract-text.ts";
import { exampleCommands } from "./example-commands.ts";
import { fieldList } from "./field-list.ts";
import { typescriptExample } from "./typescript-example.ts";

/**
 * Renders a method: its request, its response, its errors and examples of calls. Its attributes are what the script needs to
 * call it.
 */
export function methodSection(documented: DocumentedMethod, contract: DocumentedContract): Html {
  const { method } = documented;
  const { commentOf } = contract;
  const anchor = methodAnchor(method);
  const [request, response] = [messageAnchor(method, "request"), messageAnchor(method, "response")];
  return html`<section class="rpc" aria-labelledby="${anchor}"${callAttributes(documented, contract)}>
<div class="rpc-head"><h2 id="${anchor}">${method.name}</h2> <code>POST /${methodPathOf(method)}</code></div>
<div class="halves"><div class="about">
${commentHtml(commentOf(method))}
<ul class="facts">${factsOf(documented, contract).map((fact) => html`<li>${fact}</li>`)}</ul>
<h3 id="${request}">Request <code>${method.input.typeName}</code></h3>
${commentHtml(commentOf(method.input))}${fieldList(method.input, request, commentOf)}
<h3 id="${response}">${isStream(documented) ? "Each message" : "Response"} <code>${method.output.typeName}</code></h3>
${commentHtml(commentOf(method.output))}${fieldList(method.output, response, commentOf)}
${errorsHtml(documented, contract)}
</div><div class="examples">${examples(documented, contract)}</div></div>
</section>
`;
}

function isStream({ method }: DocumentedMethod): boolean {
  return method.methodKind !== "unary";
}

/** The script cannot call a method that takes several requests. */
function callAttributes(
  documented: DocumentedMethod,
  { isPlannable }: DocumentedContract,
): Html | readonly Html[] {
  const { method, rule } = documented;
  if (method.methodKind !== "unary" && method.methodKind !== "server_streaming") {
    return [];
  }
  const words = [
    method.methodKind === "server_streaming" ? "stream" : "",
    rule.mutation ? "change" : "",
    rule.mutation && isPlannable(method) ? "plan" : "",
    takesIdempotencyKey(documented) ? "key" : "",
  ];
  return html` data-method="${methodPathOf(method)}" data-role="${rule.role}" data-call="${words.filter((word) => word !== "").join(" ")}" data-request="${JSON.stringify(exampleRequest(method), null, 2)}"`;
}

function factsOf(
  documented: DocumentedMethod,
  { restRoutes, isPlannable }: DocumentedContract,
): readonly string[] {
  const { method, rule } = documented;
  const events = eventStreamMethodOf(method, rule);
  return [
    rule.role === "anyone" ? "needs no login" : `role ${rule.role}`,
    method.methodKind.replace("_", " "),
    rule.mutation ? "changes something" : "changes nothing",
    ...(rule.get ? ["also GET"] : []),
    ...(events === undefined ? [] : [events.byGet ? "event stream, also by GET" : "event stream"]),
    ...(events?.resumes === true ? ["supports Last-Event-ID"] : []),
    ...(takesIdempotencyKey(documented) ? ["supports idempotency-key"] : []),
    ...(rule.mutation && isPlannable(method) ? ["can be planned"] : []),
    ...(rule.mutation ? ["refuses unknown fields"] : []),
    ...(rule.secrets ? ["contains secrets"] : []),
    ...restRoutes
      .filter((route) => route.method === method)
      .map(({ httpMethod, template }) => `${httpMethod} ${template.text}`),
  ];
}

/** Renders the errors of the method that not every call has, by code. */
function errorsHtml(documented: DocumentedMethod, { errors }: DocumentedContract): Html {
  const byCode = [...Map.groupBy(errors.ownOf(documented), ({ code }) => code)].map(([code, rows]) => {
    const links = rows.map(
      ({ reason }, index) =>
        html`${index === 0 ? "" : ", "}<a href="${errorsPath}#${reasonAnchor(reason)}">${reason}</a>`,
    );
    return html`<li>${code}: ${links}</li>
`;
  });
  return html`<h3>Errors</h3><ul class="errors">${byCode}<li>${byCode.length === 0 ? "Only those" : "And those"} of <a href="${errorsPath}#errors-of-every-call">every call</a>.</li></ul>`;
}

/** Renders the examples. One at a time is open. */
function examples(documented: DocumentedMethod, { restRoutes }: DocumentedContract): readonly Html[] {
  const typescript = typescriptExample(documented);
  const all = [
    ...exampleCommands(documented, restRoutes).map(({ title, command }) => ({ title, text: command })),
    ...(typescript === undefined ? [] : [{ title: "TypeScript", text: typescript }]),
  ];
  return all.map(({ title, text }, index) => {
    const open = index === 0 ? html` open` : [];
    return html`<details name="examples-${methodPathOf(documented.method)}"${open}><summary>${title}</summary><pre class="example"><code>${text}</code></pre></details>
`;
  });
}
