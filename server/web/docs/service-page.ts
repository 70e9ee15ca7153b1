import type { DocumentedMethod } from "../../rpc/openapi/documented-method.ts";
import { type Html, html } from "../html.ts";
import { methodAnchor } from "./anchors.ts";
import { commentHtml, firstSentence, inlineHtml } from "./contract-text.ts";
import { fieldTypes, typeHtml } from "./field-types.ts";
import { methodSection } from "./method-section.ts";
import type { DocumentedService, PageContract } from "./page-contract.ts";

/**
 * Renders the page of a service: its RPCs, and every type that their messages refer to. It yields between steps, so that other
 * work can run.
 */
export function* servicePage(
  { service, methods }: DocumentedService,
  contract: PageContract,
): Generator<void, Html> {
  const { commentOf } = contract;
  const ofMethods: Html[] = [];
  for (const one of methods) {
    ofMethods.push(methodSection(one, contract));
    yield;
  }
  const types = fieldTypes(methods).map((type) => typeHtml(type, commentOf));
  yield;
  return html`<h1 id="service-${service.typeName}">${service.name} <code>${service.typeName}</code></h1>
${commentHtml(commentOf(service))}
<ul class="summary">${methods.map((one) => summaryItem(one, contract))}</ul>
<p class="quiet">The commands use the variables of <a href="/docs#calls">How to call</a>.</p>
${ofMethods}
${types.length === 0 ? [] : html`<section class="types"><h2 id="types">Types</h2>${types}</section>`}`;
}

function summaryItem({ method, rule }: DocumentedMethod, { commentOf }: PageContract): Html {
  const stream = method.methodKind === "unary" ? "" : "stream";
  const words = [stream, rule.mutation ? "change" : "", rule.role === "anyone" ? "no login" : rule.role];
  return html`<li><a href="#${methodAnchor(method)}">${method.name}</a> <span>${inlineHtml(firstSentence(commentOf(method)))}</span> <span class="quiet">${words.filter((word) => word !== "").join(", ")}</span></li>
`;
}
