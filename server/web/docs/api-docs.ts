import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { inSlices } from "../../rpc/call/in-slices.ts";
import type { ListenerFacts } from "../../rpc/call/listener-facts.ts";
import type { Route } from "../../rpc/call/router.ts";
import type { DocumentedReasons } from "../../rpc/openapi/error-table.ts";
import type { RestRoute } from "../../rpc/protocols/rest/routes.ts";
import { dashboardDirectory } from "../dashboard-directory.ts";
import { addDashboardHeaders } from "../security-headers.ts";
import { type KeptDocument, keepDocument, sendDocument } from "./kept-document.ts";
import type { PageContract } from "./page-contract.ts";

export interface ApiDocsOptions
  extends Pick<PageContract, "version" | "isSandbox" | "isPlannable" | "maxMessageBytes" | "maxDeadlineMs"> {
  readonly routes: readonly Route[];
  readonly reasons: DocumentedReasons;
  readonly restRoutes: readonly RestRoute[];
  readonly listenerOf: (request: FastifyRequest) => ListenerFacts;
}

/**
 * Serves `/openapi.json` and the pages below `/docs`: the contract for programs and for people. They are public, as reflection
 * is, and list only the services of the listener. They are rendered on first use, in slices, so that streams keep going
 * meanwhile; the rendering code is loaded only then. Nothing of a request is in them.
 */
export async function apiDocs(app: FastifyInstance, options: ApiDocsOptions): Promise<void> {
  const json = keptByListener(async (contract) => keepDocument(await openApiText(contract)));
  const pages = keptByListener(keptPages);
  let style: Promise<KeptDocument> | undefined;
  let script: KeptDocument | undefined;

  function keptByListener<T>(make: (contract: PageContract) => Promise<T>) {
    const kept = new Map<string, Promise<T>>();
    return (request: FastifyRequest): Promise<T> => {
      const listener = options.listenerOf(request);
      const { services, lvmd } = listener;
      const key = [lvmd, ...(services === undefined ? ["*"] : [...services].toSorted())].join(" ");
      const known = kept.get(key) ?? contractOf(options, listener).then(make);
      kept.set(key, known);
      // After a failure the next request tries again.
      known.catch(() => kept.delete(key));
      return known;
    };
  }

  async function sendPage(request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> {
    const page = (await pages(request)).get(path);
    if (page === undefined) {
      reply.callNotFound();
      return reply;
    }
    const type = path.endsWith(".json") ? "application/json" : "text/html; charset=utf-8";
    return sendDocument(request, addDashboardHeaders(reply).type(type), page);
  }

  app.get("/openapi.json", async (request, reply) =>
    sendDocument(request, reply.type("application/json"), await json(request)),
  );
  app.get("/docs", (request, reply) => sendPage(request, reply, "/docs"));
  app.get<{ Params: { name: string } }>("/docs/:name", (request, reply) =>
    sendPage(request, reply, `/docs/${request.params.name}`),
  );
  app.get("/docs/style.css", async (request, reply) => {
    style ??= import("./docs-style.ts").then(({ docsStyle }) => keepDocument(docsStyle));
    return sendDocument(request, reply.type("text/css; charset=utf-8"), await style);
  });
  const scriptFile = join(dashboardDirectory(), "docs.js");
  app.get("/docs/script.js", async (request, reply) => {
    if (script === undefined && !existsSync(scriptFile)) {
      // The dashboard is not built. The pages can be read without the script.
      reply.callNotFound();
      return reply;
    }
    script ??= keepDocument(await readFile(scriptFile, "utf8"));
    return sendDocument(request, reply.type("text/javascript; charset=utf-8"), script);
  });
}

async function openApiText(contract: PageContract): Promise<string> {
  const { openApiDocument } = await import("../../rpc/openapi/openapi-document.ts");
  return inSlices(jsonOf(openApiDocument(contract)));
}

async function keptPages(contract: PageContract): Promise<ReadonlyMap<string, KeptDocument>> {
  const { docsPages } = await import("./docs-pages.ts");
  const pages = await inSlices(docsPages(contract));
  return new Map([...pages].map(([path, text]) => [path, keepDocument(text)]));
}

function* jsonOf(generation: Generator<void, object>): Generator<void, string> {
  const document = yield* generation;
  yield;
  return JSON.stringify(document);
}

/** Returns the documented contract for the services of a listener. */
async function contractOf(
  { routes, restRoutes, reasons, ...limits }: ApiDocsOptions,
  listener: ListenerFacts,
): Promise<PageContract> {
  const { readContractComments } = await import("../../rpc/openapi/contract-comments.ts");
  const { createErrorTable } = await import("../../rpc/openapi/error-table.ts");
  const { services, lvmd } = listener;
  const methods = routes.flatMap(({ rule, shownOn }) => {
    const method = shownOn(listener);
    return method === undefined || services?.has(method.parent.typeName) === false ? [] : [{ method, rule }];
  });
  const commentOf = await readContractComments(lvmd);
  return { ...limits, methods, restRoutes, commentOf, errors: createErrorTable(reasons, commentOf) };
}
