import { type Html, html } from "../html.ts";
import { errorsPath, methodAnchor, servicePath } from "./anchors.ts";
import { groupByApi } from "./apis.ts";
import { firstSentence, inlineHtml } from "./contract-text.ts";
import { type DocumentedService, type PageContract, servicesOf } from "./page-contract.ts";

const setUp = `export GATEWAY=…   # this gateway's host and port, as in the address of this page
export TOKEN=…     # the sandbox prints one when it starts; services.auth.AuthService/Login returns one as well`;

const typescriptSetUp = `import { createHostplaneClient } from "hostplane/client";

const hostplane = createHostplaneClient({ baseUrl: "http://$GATEWAY", token: process.env.TOKEN ?? "" });`;

/**
 * Renders the index: every service with a sentence and its RPCs, and how to call them. Each service and RPC has the anchor that
 * it had when all of them were on this page.
 */
export function indexPage(contract: PageContract): Html {
  const services = new Map(servicesOf(contract).map((one) => [one.service, one]));
  const groups = groupByApi([...services.keys()]).map(
    ([api, ofApi]) => html`<section class="api"><h2>${api.name}</h2><p class="quiet">${api.summary}</p>
<ul>${ofApi.flatMap((service) => services.get(service) ?? []).map((one) => serviceItem(one, contract))}</ul></section>
`,
  );
  return html`<h1>API</h1>
<p>${String(services.size)} services with ${String(contract.methods.length)} RPCs, over Connect, gRPC and gRPC-Web on one port.</p>
${groups}
${howToCall(contract)}
<section><h2 id="errors">Errors</h2>
<p id="errors-of-every-call"><a href="${errorsPath}">All reasons of errors</a>, with those that every call may return.</p></section>`;
}

function serviceItem({ service, methods }: DocumentedService, { commentOf }: PageContract): Html {
  const [first] = methods;
  const comment = commentOf(service) || (first === undefined ? "" : commentOf(first.method));
  const links = methods.map(
    ({ method }) =>
      html`<li id="${methodAnchor(method)}"><a href="${servicePath(service)}#${methodAnchor(method)}">${method.name}</a></li>
`,
  );
  return html`<li id="service-${service.typeName}"><a class="name" href="${servicePath(service)}">${service.typeName}</a>
<p>${inlineHtml(firstSentence(comment))}</p><ul class="rpcs">${links}</ul></li>
`;
}

function howToCall({ maxMessageBytes }: PageContract): Html {
  return html`<section><h2 id="calls">How to call</h2>
<p>Every RPC is a <code>POST</code> of JSON to <code>/package.Service/Method</code> by Connect, and at the same path gRPC and
gRPC-Web. Field names may be written as here or in lowerCamelCase; answers over Connect use lowerCamelCase, and omit fields with
their default value. 64-bit integers are strings in answers, and strings or numbers in requests. A message has at most
${String(maxMessageBytes)} bytes. Programs can use <a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1), and reflection over gRPC.</p>
<p>A token identifies the caller. Each RPC needs a role: operator includes viewer, and admin includes both. A change that can be
planned is previewed by <code>hostplane.v1.PlanService/Plan</code>, with everything that it would change. A call with the header <code>idempotency-key</code> can be
repeated safely if the RPC supports it, and <code>connect-timeout-ms</code> sets a deadline. A stream is sent as
server-sent events if the request accepts <code>text/event-stream</code>.</p>
<p>The requests of the examples fit the sandbox. The commands use a shell with these variables:</p>
<pre class="example"><code>${setUp}</code></pre>
<p>The TypeScript examples use this client:</p>
<pre class="example"><code>${typescriptSetUp}</code></pre></section>`;
}
