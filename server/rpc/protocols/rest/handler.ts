import {
  type Compression,
  createAsyncIterable,
  type UniversalServerRequest,
  type UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import type { RequestFacts } from "../../call/request-facts.ts";
import type { Route } from "../../call/router.ts";
import { beginHttpCall, type HttpCall, httpErrorFrom } from "../http/http-call.ts";
import { compressMinBytes } from "../wire/compression.ts";
import { errorBodyOf, errorHeadersOf, httpStatusOf, streamErrorOf } from "./error.ts";
import { readRestRequest } from "./request.ts";
import { answerJson } from "./response.ts";
import type { RestRoute } from "./routes.ts";

/** Target of a request, from its path. */
export interface RestTarget {
  /** Path and query as sent. */
  readonly url: string;
  readonly variables: ReadonlyMap<string, string>;
}

/** Answers a REST request through the call path of its method. */
export type RestHandler = (
  request: UniversalServerRequest,
  facts: RequestFacts,
  target: RestTarget,
) => Promise<UniversalServerResponse>;

/**
 * Creates the handler of a REST route. The request is read inside the call, so that a caller without permission gets that error
 * first. A stream is answered with one JSON text per line, `{"result": …}` for each message, and `{"error": …}` if it ends with
 * an error. An error before the first line is answered like that of any other call.
 */
export function createRestHandler(served: Route, route: RestRoute): RestHandler {
  const { method } = route;
  const isStream = method.methodKind !== "unary";
  const type = isStream ? "application/x-ndjson" : "application/json";
  const jsonOf = (output: object) =>
    answerJson(method.output, output, route.responseField, served.writeMaxBytes);

  return async (request, facts, target) => {
    const contentType = request.header.get("content-type") ?? undefined;
    const call = beginHttpCall(served, "rest", request, facts, { "content-type": type }, (readBody) =>
      readRestRequest(route, { ...target, contentType, readBody }, served.rule.mutation),
    );
    const { header, compression } = call;
    let isOpen = false;
    try {
      const first = await call.outputs.next();
      call.noteUnknownFields();
      if (isStream) {
        isOpen = true;
        return { status: 200, header, body: linesOf(first, call, jsonOf) };
      }
      return await answerOf(request, 200, header, jsonOf(first.value ?? {}), compression);
    } catch (thrown) {
      const error = httpErrorFrom(thrown);
      for (const [name, value] of Object.entries(errorHeadersOf(error))) {
        header.set(name, value);
      }
      const body = Buffer.from(JSON.stringify(errorBodyOf(error)));
      return await answerOf(request, httpStatusOf(error), header, body, compression);
    } finally {
      if (!isOpen) {
        await call.close();
      }
    }
  };
}

async function answerOf(
  { method }: UniversalServerRequest,
  status: number,
  header: Headers,
  json: Buffer,
  compression: Compression | null,
): Promise<UniversalServerResponse> {
  const isCompressed = compression !== null && json.byteLength >= compressMinBytes;
  const body = isCompressed ? await compression.compress(new Uint8Array(json)) : json;
  if (isCompressed) {
    header.set("content-encoding", compression.name);
  }
  header.set("content-length", String(body.byteLength));
  return method === "HEAD" ? { status, header } : { status, header, body: createAsyncIterable([body]) };
}

async function* linesOf(
  first: IteratorResult<object>,
  { outputs, close }: HttpCall,
  jsonOf: (output: object) => Buffer,
): AsyncGenerator<Uint8Array, void> {
  try {
    for (let next = first; next.done !== true; next = await outputs.next()) {
      yield Buffer.from(`{"result":${jsonOf(next.value)}}\n`);
    }
  } catch (thrown) {
    yield Buffer.from(`${JSON.stringify(streamErrorOf(httpErrorFrom(thrown)))}\n`);
  } finally {
    await close();
  }
}
