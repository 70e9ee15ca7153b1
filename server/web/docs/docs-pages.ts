import type { DescService } from "@bufbuild/protobuf";
import type { DocumentedMethod } from "../../rpc/openapi/documented-method.ts";
import type { DocumentedContract } from "../../rpc/openapi/openapi-document.ts";
import { type Html, html } from "../html.ts";
import { commentHtml } from "./contract-text.ts";
import { errorsHtml } from "./errors-page.ts";
import { fieldTypes, typeHtml } from "./field-types.ts";
import { methodAnchor, methodHtml } from "./method-section.ts";

const setUp = `export GATEWAY=127.0.0.1:8080
export TOKEN=…   # the sandbox prints one when it starts; services.auth.AuthService/Login returns one as well`;

const typescriptSetUp = `import { createHostplaneClient } from "hostplane/client";

const hostplane = createHostplaneClient({ baseUrl: "http://127.0.0.1:8080", token: process.env.TOKEN ?? "" });`;

/** A contract, and whether the gateway is a sandbox. */
export interface PageContract extends DocumentedContract {
  readonly isSandbox: boolean;
}

/**
 * Renders `/docs`: every RPC of the contract on one page without scripts. It yields between steps, so that other work can run.
 */
export function* apiDocsPage(contract: PageContract): Generator<void, string> {
  const { methods, commentOf, version, maxMessageBytes, isSandbox } = contract;
  const services = [...Map.groupBy(methods, ({ method }) => method.parent)];
  const types = fieldTypes(methods);
  yield;
  const ofServices: Html[] = [];
  for (const [service, ofService] of services) {
    ofServices.push(yield* serviceHtml(service, ofService, contract));
  }
  const ofTypes: Html[] = [];
  for (const type of types) {
    ofTypes.push(typeHtml(type, commentOf));
    yield;
  }
  const page = html`<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>hostplane${isSandbox ? " sandbox" : ""} ${version}: API</title>
<link rel="stylesheet" href="/docs/style.css"></head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header><h1>hostplane API</h1>${isSandbox ? sandboxMark : []}</header>
<div class="columns">
${contents(services)}
<main id="main">
<h2 id="calls">How to call</h2>
<p>Every RPC is a <code>POST</code> of JSON to <code>/package.Service/Method</code> by Connect, and at the same path gRPC and
gRPC-Web. Field names may be written as here or in lowerCamelCase; answers over Connect use lowerCamelCase, and omit fields with
their default value. 64-bit integers are strings in answers, and strings or numbers in requests. A message has at most
${String(maxMessageBytes)} bytes. Programs can use <a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1), and reflection over gRPC.</p>
<p>A token identifies the caller. Each RPC needs a role: operator includes viewer, and admin includes both. A change that can be
planned is previewed by <code>hostplane.v1.PlanService/Plan</code>, with everything that it would change. A call with the header <code>idempotency-key</code> can be
repeated safely if the RPC supports it, and <code>connect-timeout-ms</code> sets a deadline. A stream is sent as
server-sent events if the request accepts <code>text/event-stream</code>.</p>
<p>The examples use the sandbox, in cleartext, and a shell with these variables:</p>
<pre><code>${setUp}</code></pre>
<p>The TypeScript examples use this client:</p>
<pre><code>${typescriptSetUp}</code></pre>
${ofServices}
<h2 id="types">Types</h2>
${ofTypes}
${errorsHtml(contract.errors)}
</main></div></body></html>`;
  return `<!doctype html>\n${page.text}`;
}

const sandboxMark = html`<p class="sandbox">Sandbox: its systems are simulated; nothing on the host is touched.</p>`;

type ServiceMethods = readonly (readonly [DescService, readonly DocumentedMethod[]])[];

function contents(services: ServiceMethods): Html {
  const items = services.map(
    ([service, methods]) => html`<details><summary>${service.typeName}</summary><ul>
<li><a href="#service-${service.typeName}">About ${service.name}</a></li>
${methods.map((one) => html`<li><a href="#${methodAnchor(one)}">${one.method.name}</a></li>\n`)}</ul></details>
`,
  );
  return html`<nav aria-label="Contents"><ul><li><a href="/">hostplane</a></li><li><a href="#calls">How to call</a></li></ul>
${items}
<ul><li><a href="#types">Types</a></li><li><a href="#errors">Errors</a></li></ul></nav>`;
}

function* serviceHtml(
  service: DescService,
  methods: readonly DocumentedMethod[],
  contract: DocumentedContract,
): Generator<void, Html> {
  const ofMethods: Html[] = [];
  for (const one of methods) {
    ofMethods.push(methodHtml(one, contract));
    yield;
  }
  return html`<h2 id="service-${service.typeName}">${service.typeName}</h2>
${commentHtml(contract.commentOf(service))}
${ofMethods}`;
}
