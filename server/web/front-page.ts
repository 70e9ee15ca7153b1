import type { FastifyInstance } from "fastify";
import type { Backend, BackendStatus } from "../backend.ts";
import type { Route } from "../rpc/router.ts";
import { type Html, html } from "./html.ts";
import { addPageHeaders } from "./security-headers.ts";

export interface FrontPageOptions {
  readonly backends: readonly Backend[];
  readonly routes: readonly Route[];
  readonly isSandbox: boolean;
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid; padding: .25rem .5rem; text-align: left; vertical-align: top; }
caption { font-weight: bold; padding: 1rem 0 .5rem; text-align: left; }
.sandbox { border: 2px solid; padding: .5rem; }
div { overflow-x: auto; }
`;

/**
 * `/`: what a person sees who opens the gateway in a browser: the systems and how they are, and every RPC with
 * the role that it needs. It needs no script and loads nothing from elsewhere. Everybody may see it, so it
 * tells nothing of the configuration; what is missing is ListBackends' to tell.
 */
export async function frontPage(app: FastifyInstance, options: FrontPageOptions): Promise<void> {
  app.get("/style.css", async (_request, reply) => reply.type("text/css; charset=utf-8").send(style));
  app.get("/", async (_request, reply) => {
    const systems = await Promise.all(
      options.backends.map(async (backend) => ({ backend, status: await backend.status() })),
    );
    return addPageHeaders(reply)
      .type("text/html; charset=utf-8")
      .send(`<!doctype html>\n${pageOf(systems, options).text}`);
  });
}

function pageOf(
  systems: readonly { readonly backend: Backend; readonly status: BackendStatus }[],
  { routes, isSandbox }: FrontPageOptions,
): Html {
  const sandbox = html`<p class="sandbox"><strong>Sandbox.</strong> Its systems are made up; nothing on this host is touched.</p>`;
  return html`<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>hostplane</title>
<link rel="stylesheet" href="/style.css"></head>
<body>
<h1>hostplane</h1>
${isSandbox ? sandbox : ""}
<p>Calls need a login: a token of <code>services.auth.AuthService/Login</code> as the header <code>authorization</code>.</p>
<div><table><caption>Systems</caption>
<thead><tr><th scope="col">Domain</th><th scope="col">System</th><th scope="col">Kind</th><th scope="col">Health</th></tr></thead>
<tbody>${systems.map(systemRow)}</tbody></table></div>
<div><table><caption>RPCs, over Connect, gRPC and gRPC-Web</caption>
<thead><tr><th scope="col">RPC</th><th scope="col">Role</th><th scope="col">Kind</th></tr></thead>
<tbody>${routes.map(routeRow)}</tbody></table></div>
</body></html>`;
}

function systemRow({ backend, status }: { readonly backend: Backend; readonly status: BackendStatus }): Html {
  const { domain, name, kind } = backend;
  return html`<tr><td>${domain}</td><td>${name}</td><td>${kind}</td><td>${status.health}</td></tr>\n`;
}

function routeRow({ path, rule, handle }: Route): Html {
  const name = path.slice(1);
  const kind = handle.method.methodKind.replace("_", " ");
  return html`<tr><td>${name}</td><td>${rule.role}</td><td>${kind}</td></tr>\n`;
}
