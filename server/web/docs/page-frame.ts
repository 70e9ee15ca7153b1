import { type Html, html } from "../html.ts";
import { errorsPath, methodAnchor, servicePath } from "./anchors.ts";
import { groupByApi } from "./apis.ts";
import { type DocumentedService, type PageContract, servicesOf } from "./page-contract.ts";

/** A page of the documentation without its frame. */
export interface Page {
  readonly title: string;
  /** The service that the page describes. */
  readonly current?: DocumentedService;
  readonly content: Html;
}

/**
 * Renders a page as a document, with the header and the list of services. All of it can be read without the script, which adds
 * the search, calls, and the gateway's address in the examples. The address is not taken from the request: the page is kept
 * for all readers, and the header `host` is whatever a client sends.
 */
export function pageDocument({ title, current, content }: Page, contract: PageContract): string {
  const { version, isSandbox } = contract;
  const page = html`<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${title} · hostplane${isSandbox ? " sandbox" : ""} ${version}</title>
<link rel="stylesheet" href="/docs/style.css"><script type="module" src="/docs/script.js"></script></head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header><a class="home" href="/docs">hostplane API</a><span class="quiet">${version}</span>${isSandbox ? sandboxMark : []}
<div id="search"></div>
<nav aria-label="Pages"><a href="/docs">Services</a><a href="${errorsPath}">Errors</a><a href="/openapi.json">OpenAPI</a><a href="/">Dashboard</a></nav></header>
<div class="columns">
${sidebar(contract, current)}
<main id="main" tabindex="-1">
${content}
</main></div></body></html>`;
  return `<!doctype html>\n${page.text}`;
}

const sandboxMark = html`<span class="sandbox" title="Its systems are simulated; nothing on the host is touched.">Sandbox</span>`;

function sidebar(contract: PageContract, current: DocumentedService | undefined): Html {
  const groups = groupByApi(servicesOf(contract).map(({ service }) => service)).map(([api, services]) => {
    const items = services.map((service) => {
      const isUnique = services.filter(({ name }) => name === service.name).length === 1;
      const isCurrent = service === current?.service;
      const methods = isCurrent
        ? html`<ul>${current.methods.map(({ method }) => html`<li><a href="#${methodAnchor(method)}">${method.name}</a></li>`)}</ul>`
        : [];
      const mark = isCurrent ? html` aria-current="page"` : [];
      return html`<li><a href="${servicePath(service)}"${mark}>${isUnique ? service.name : `${service.name} ${service.file.proto.package.split(".").at(-1)}`}</a>${methods}</li>`;
    });
    return html`<li><span class="label">${api.name}</span><ul>${items}</ul></li>
`;
  });
  return html`<nav class="sidebar" aria-label="Services"><ul>${groups}</ul></nav>`;
}
