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
/** Path of connect-web 1.x and its generated code. */
const version1 = "/connect-web-1";
/** Files of the repository, or of the directory of connect-web 1.x, that the browser may load. */
const served =
  /^\/(?:gen|test\/foreign\/browser|node_modules\/(?:@bufbuild|@connectrpc|grpc-web))\/[\w./@-]+\.(?:ts|js)$/;

export interface PageServerOptions {
  /** Directory of `connectWeb1`. */
  readonly connectWeb1: string;
  readonly query: () => URLSearchParams;
  /** Called when the page sends a POST to /cut. */
  readonly cut: () => void;
}

export interface PageServer {
  readonly origin: string;
  /** What the page posts to /results: the result of each step of each client. */
  readonly results: Promise<Record<string, Record<string, unknown>>>;
}

/**
 * Serves a page that runs page.ts with the given query. Modules are served one by one from the repository: Node strips their
 * types, and an import map resolves packages. So no bundler is needed.
 */
export async function startPageServer(t: Test, options: PageServerOptions): Promise<PageServer> {
  const importMap = JSON.stringify(await importMapOf(options.connectWeb1));
  const { promise: results, resolve: receive } =
    Promise.withResolvers<Record<string, Record<string, unknown>>>();

  async function answer(
    method: string,
    path: string,
    request: AsyncIterable<Uint8Array>,
    to: ServerResponse,
  ) {
    if (path === "/") {
      const script = `/test/foreign/browser/page.ts?${options.query()}`.replaceAll("&", "&amp;");
      to.setHeader("content-type", "text/html");
      to.end(
        `<!doctype html><script type="importmap">${importMap}</script><script type="module" src="${script}"></script>`,
      );
    } else if (method === "POST" && path === "/results") {
      receive(JSON.parse(await text(request)));
      to.end();
    } else if (method === "POST" && path === "/cut") {
      options.cut();
      to.end();
    } else {
      await serveModule(path, options.connectWeb1, to);
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

async function serveModule(path: string, connectWeb1: string, to: ServerResponse): Promise<void> {
  const isVersion1 = path.startsWith(`${version1}/`);
  const relative = isVersion1 ? path.slice(version1.length) : path;
  if (!served.test(relative) || relative.includes("..")) {
    to.writeHead(404).end();
    return;
  }
  const source = await readFile(join(isVersion1 ? connectWeb1 : root, relative), "utf8");
  to.setHeader("content-type", "text/javascript");
  to.end(extname(relative) === ".ts" ? stripTypeScriptTypes(source) : source);
}

/** Package names mean version 2 in the page's own modules, and version 1 in those below `version1`. */
async function importMapOf(connectWeb1: string) {
  const ofVersion1 = await importsOf(connectWeb1, version1);
  return {
    imports: {
      ...(await importsOf(root, "")),
      "grpc-web": "/node_modules/grpc-web/index.esm.js",
      "connect-1": ofVersion1["@connectrpc/connect"],
      "connect-web-1": ofVersion1["@connectrpc/connect-web"],
      "connect-1-gen/": `${version1}/gen/`,
    },
    scopes: { [`${version1}/`]: ofVersion1 },
  };
}

/** Maps the packages of a directory to their URLs below `prefix`. */
async function importsOf(directory: string, prefix: string): Promise<Record<string, string>> {
  const imports: Record<string, string> = {};
  for (const name of packages) {
    const manifest = JSON.parse(
      await readFile(join(directory, "node_modules", name, "package.json"), "utf8"),
    );
    for (const [entry, target] of Object.entries(manifest.exports as Record<string, { import?: string }>)) {
      if (target.import !== undefined) {
        imports[name + entry.slice(1)] = `${prefix}/node_modules/${name}/${target.import.slice(2)}`;
      }
    }
  }
  return imports;
}
