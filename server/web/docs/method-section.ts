import { methodPathOf } from "../../rpc/call/method-rule.ts";
import { type DocumentedMethod, takesIdempotencyKey } from "../../rpc/openapi/documented-method.ts";
import type { DocumentedContract } from "../../rpc/openapi/openapi-document.ts";
import { eventStreamMethodOf } from "../../rpc/protocols/sse/event-stream-methods.ts";
import { type Html, html } from "../html.ts";
import { commentHtml } from "./contract-text.ts";
import { exampleCommands } from "./example-commands.ts";
import { fieldsHtml } from "./field-list.ts";
import { typescriptExample } from "./typescript-example.ts";

/** Returns the id of the method's section in the page. */
export function methodAnchor({ method }: DocumentedMethod): string {
  return `rpc-${methodPathOf(method).replace("/", ".")}`;
}

/** Renders a method: its request, its response, its errors and examples of calls. */
export function methodHtml(documented: DocumentedMethod, contract: DocumentedContract): Html {
  const { method } = documented;
  const { commentOf, restRoutes } = contract;
  const typescript = typescriptExample(documented);
  const examples = [
    ...exampleCommands(documented, restRoutes).map(({ title, command }) => exampleHtml(title, command)),
    ...(typescript === undefined ? [] : [exampleHtml("TypeScript", typescript)]),
  ];
  return html`<h3 id="${methodAnchor(documented)}">${method.name}</h3>
<p><code>${methodPathOf(method)}</code></p>
${commentHtml(commentOf(method))}
<ul class="facts">${factsOf(documented, contract).map((fact) => html`<li>${fact}</li>`)}</ul>
<h4>Request <code>${method.input.typeName}</code></h4>
${commentHtml(commentOf(method.input))}${fieldsHtml(method.input, commentOf)}
<h4>${isStream(documented) ? "Each message" : "Response"} <code>${method.output.typeName}</code></h4>
${commentHtml(commentOf(method.output))}${fieldsHtml(method.output, commentOf)}
${errorsHtml(documented, contract)}
<details><summary>Examples of ${method.name}</summary>${examples}</details>
`;
}

function isStream({ method }: DocumentedMethod): boolean {
  return method.methodKind !== "unary";
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

/** Renders the errors of the method that not every call has. */
function errorsHtml(documented: DocumentedMethod, { errors }: DocumentedContract): Html {
  const links = errors
    .ownOf(documented)
    .map(({ reason, code }) => html`<a href="#reason-${reason}">${reason}</a> (${code}), `);
  return html`<h4>Errors</h4><p>${links}${links.length === 0 ? "Only those" : "and those"} of <a href="#errors-of-every-call">every call</a>.</p>`;
}

function exampleHtml(title: string, text: string): Html {
  return html`<h4>${title}</h4><pre><code>${text}</code></pre>\n`;
}
