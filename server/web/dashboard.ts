import { existsSync } from "node:fs";
import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { dashboardDirectory } from "./dashboard-directory.ts";
import { addDashboardHeaders, addPageHeaders } from "./security-headers.ts";

/** The build names these files by their content, so a changed file has a new name. */
const yearSeconds = 31_536_000;

/** Matches `index-WvF7cZqf.js`, but not a precompressed file (`index-WvF7cZqf.js.br`) or a hidden one. */
const assetName = /^\w[\w.-]*\.(?:css|js|svg)$/;

/** Identity providers return browsers to the second one, where the dashboard finishes the login. */
const pagePaths: readonly string[] = ["/", "/oidc/:provider/callback"];

/**
 * Serves `/`: the dashboard, as `npm run build:dashboard` built it into the package. Anyone may load it; its data comes from
 * RPCs, which need a login.
 */
export async function dashboard(app: FastifyInstance): Promise<void> {
  const root = dashboardDirectory();
  if (!existsSync(join(root, "index.html"))) {
    for (const path of pagePaths) {
      app.get(path, async (_request, reply) =>
        addPageHeaders(reply).type("text/html; charset=utf-8").send(notBuilt),
      );
    }
    return;
  }
  await app.register(fastifyStatic, {
    root,
    // Registering a route per file would take as long as the rest of the start.
    serve: false,
    preCompressed: true,
    // Not cached, as all other answers. Only the assets that the page loads are cached for good.
    cacheControl: false,
    setHeaders: (reply, path) => {
      addDashboardHeaders(reply);
      if (path.includes("/assets/")) {
        reply.header("cache-control", `public, max-age=${yearSeconds}, immutable`);
      }
    },
  });
  for (const path of pagePaths) {
    app.get(path, (_request, reply) => reply.sendFile("index.html"));
  }
  const assets = join(root, "assets");
  app.get<{ Params: { name: string } }>("/assets/:name", ({ params: { name } }, reply) =>
    assetName.test(name) ? reply.sendFile(name, assets) : reply.callNotFound(),
  );
}

const notBuilt = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>hostplane</title></head>
<body><h1>hostplane</h1>
<p>The dashboard is not built: run <code>npm run build:dashboard</code>, then restart the gateway. <a href="/docs">The API and its examples</a> are available.</p>
</body></html>
`;
