import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { stripTypeScriptTypes } from "node:module";
import type { AddressInfo } from "node:net";
import { extname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { Test } from "tap";

const root = resolve(import.meta.dirname, "../../..");
const packages = ["@bufbuild/protobuf", "@connectrpc/connect", "@connectrpc/connect-web"];
/** What of the repository a browser may load. */
const served =
  /^\/(?:gen|test\/foreign\/browser|node_modules\/(?:@bufbuild|@connectrpc|grpc-web))\/[\w./@-]+\.(?:ts|js)$/;

export interface PageServer {
  readonly origin: string;
  /** What the page has posted to /results. */
  readonly results: Promise<Record<string, unknown>>;
}

/**
 * Serves a page that runs page.ts with a query, and its modules one by one as the repository has them: types
 * are stripped as Node does, and packages are found by an import map. So no bundler is needed.
 */
export async function startPageServer(t: Test, query: () => URLSearchParams): Promise<PageServer> {
  const importMap = JSON.stringify({ imports: await importsOfPackages() });
  const { promise: results, resolve: receive } = Promise.withResolvers<Record<string, unknown>>();

  async function answer(
    method: string,
    path: string,
    request: AsyncIterable<Uint8Array>,
    to: ServerResponse,
  ) {
    if (path === "/") {
      const script = `/test/foreign/browser/page.ts?${query()}`.replaceAll("&", "&amp;");
      to.setHeader("content-type", "text/html");
      to.end(
        `<!doctype html><script type="importmap">${importMap}</script><script type="module" src="${script}"></script>`,
      );
    } else if (method === "POST" && path === "/results") {
      receive(JSON.parse(await text(request)));
      to.end();
    } else if (served.test(path) && !path.includes("..")) {
      const source = await readFile(join(root, path), "utf8");
      to.setHeader("content-type", "text/javascript");
      to.end(extname(path) === ".ts" ? stripTypeScriptTypes(source) : source);
    } else {
      to.writeHead(404).end();
    }
  }

  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://page");
    answer(request.method ?? "", pathname, request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, results };
}

async function importsOfPackages(): Promise<Record<string, string>> {
  const imports: Record<string, string> = { "grpc-web": "/node_modules/grpc-web/index.esm.js" };
  for (const name of packages) {
    const manifest = JSON.parse(await readFile(join(root, "node_modules", name, "package.json"), "utf8"));
    for (const [entry, target] of Object.entries(manifest.exports as Record<string, { import?: string }>)) {
      if (target.import !== undefined) {
        imports[name + entry.slice(1)] = `/node_modules/${name}/${target.import.slice(2)}`;
      }
    }
  }
  return imports;
}
