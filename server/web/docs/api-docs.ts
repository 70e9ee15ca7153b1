import { createHash } from "node:crypto";
import { compressionNegotiate } from "@connectrpc/connect/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { inSlices } from "../../rpc/call/in-slices.ts";
import type { ListenerFacts } from "../../rpc/call/listener-facts.ts";
import type { Route } from "../../rpc/call/router.ts";
import type { DocumentedReasons } from "../../rpc/openapi/error-table.ts";
import { matchesEtag } from "../../rpc/protocols/http/etag.ts";
import type { RestRoute } from "../../rpc/protocols/rest/routes.ts";
import { compressions } from "../../rpc/protocols/wire/compression.ts";
import { addPageHeaders } from "../security-headers.ts";
import type { PageContract } from "./docs-pages.ts";

export interface ApiDocsOptions
  extends Pick<PageContract, "version" | "isSandbox" | "isPlannable" | "maxMessageBytes" | "maxDeadlineMs"> {
  readonly routes: readonly Route[];
  readonly reasons: DocumentedReasons;
  readonly restRoutes: readonly RestRoute[];
  readonly listenerOf: (request: FastifyRequest) => ListenerFacts;
}

/** A document ready to be sent: rendered once, and compressed once per compression. */
interface Kept {
  readonly etag: string;
  /** By name of the compression; "" means none. */
  readonly bytesOf: (compression: string) => Promise<Uint8Array>;
}

/**
 * Serves `/openapi.json` and `/docs`: the contract for programs and for people. Both are public, as reflection is, and list only
 * the services of the listener. They are rendered on first use, in slices, so that streams keep going meanwhile; the rendering
 * code is loaded only then.
 */
export async function apiDocs(app: FastifyInstance, options: ApiDocsOptions): Promise<void> {
  const json = keptByListener(openApiText);
  const page = keptByListener(pageHtml);
  let style: Promise<Kept> | undefined;

  function keptByListener(make: (contract: PageContract) => Promise<string>) {
    const kept = new Map<string, Promise<Kept>>();
    return (request: FastifyRequest): Promise<Kept> => {
      const listener = options.listenerOf(request);
      const { services, lvmd } = listener;
      const key = [lvmd, ...(services === undefined ? ["*"] : [...services].toSorted())].join(" ");
      const known = kept.get(key) ?? keep(contractOf(options, listener).then(make));
      kept.set(key, known);
      // After a failure the next request tries again.
      known.catch(() => kept.delete(key));
      return known;
    };
  }

  app.get("/openapi.json", async (request, reply) =>
    answer(request, reply.type("application/json"), await json(request)),
  );
  app.get("/docs", async (request, reply) =>
    answer(request, addPageHeaders(reply).type("text/html; charset=utf-8"), await page(request)),
  );
  app.get("/docs/style.css", async (request, reply) => {
    style ??= keep(import("./docs-style.ts").then(({ apiDocsStyle }) => apiDocsStyle));
    return answer(request, reply.type("text/css; charset=utf-8"), await style);
  });
}

async function openApiText(contract: PageContract): Promise<string> {
  const { openApiDocument } = await import("../../rpc/openapi/openapi-document.ts");
  return inSlices(jsonOf(openApiDocument(contract)));
}

async function pageHtml(contract: PageContract): Promise<string> {
  const { apiDocsPage } = await import("./docs-pages.ts");
  return inSlices(apiDocsPage(contract));
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

async function keep(pending: Promise<string>): Promise<Kept> {
  const bytes = new Uint8Array(Buffer.from(await pending));
  const compressed = new Map<string, Promise<Uint8Array>>();
  return {
    etag: createHash("sha256").update(bytes).digest("base64url"),
    bytesOf(name) {
      const compression = compressions.find((one) => one.name === name);
      const known = compressed.get(name) ?? compression?.compress(bytes) ?? Promise.resolve(bytes);
      compressed.set(name, known);
      return known;
    },
  };
}

async function answer(request: FastifyRequest, reply: FastifyReply, kept: Kept): Promise<FastifyReply> {
  const accepted = request.headers["accept-encoding"]?.toString() ?? null;
  const { response } = compressionNegotiate(compressions, null, accepted, "accept-encoding");
  const name = response?.name ?? "";
  const etag = `"${kept.etag}${name && `-${name}`}"`;
  reply.headers({ "cache-control": "no-cache", vary: "accept-encoding", etag });
  if (matchesEtag(request.headers["if-none-match"], etag)) {
    return reply.code(304).send();
  }
  if (name !== "") {
    reply.header("content-encoding", name);
  }
  return reply.send(await kept.bytesOf(name));
}
