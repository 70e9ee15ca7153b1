import { base64Decode } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  readAllBytes,
  type UniversalServerRequest,
  type UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { etagOf, matchesEtag } from "../http/etag.ts";

/** Returns the query of a Connect GET in a form that connect-es supports; undefined for any other request. */
export function connectQueryOf({ method, url }: UniversalServerRequest): URLSearchParams | undefined {
  const query = method === "GET" || method === "HEAD" ? new URL(url).searchParams : undefined;
  return /^(?:json|proto)$/.test(query?.get("encoding") ?? "") ? query : undefined;
}

/** Converts a Connect GET to the POST with the same message, so that everything about its message is checked in one place. */
export function postFromGet(request: UniversalServerRequest, query: URLSearchParams): UniversalServerRequest {
  const header = new Headers(request.header);
  header.set("content-type", `application/${query.get("encoding")}`);
  header.delete("content-length");
  header.delete("content-encoding");
  const compression = query.get("compression");
  if (compression !== null) {
    header.set("content-encoding", compression);
  }
  return { ...request, method: "POST", header, body: bodyOf(query) };
}

async function* bodyOf(query: URLSearchParams): AsyncGenerator<Uint8Array, void> {
  const message = query.get("message") ?? "";
  const bytes = query.get("base64") === "1" ? fromBase64(message) : Buffer.from(message);
  if (bytes.byteLength > 0) {
    yield bytes;
  }
}

function fromBase64(message: string): Uint8Array {
  try {
    return base64Decode(message);
  } catch {
    throw new ConnectError("the query parameter message is not base64", Code.InvalidArgument);
  }
}

/**
 * Tags the answer to a GET, and leaves out its body if the client already has it. The client may keep the answer but has to
 * revalidate it each time.
 */
export async function withEtag(
  answer: UniversalServerResponse,
  ifNoneMatch: string | null,
): Promise<UniversalServerResponse> {
  if (answer.status !== 200 || answer.body === undefined) {
    return answer;
  }
  const body = await readAllBytes(answer.body, Number.MAX_SAFE_INTEGER);
  const etag = etagOf(body);
  const header = new Headers(answer.header);
  header.set("etag", etag);
  header.set("cache-control", "private, no-cache");
  header.append("vary", "accept-encoding");
  if (!matchesEtag(ifNoneMatch ?? undefined, etag)) {
    return { ...answer, header, body: onceOf(body) };
  }
  header.delete("content-type");
  header.delete("content-length");
  return { status: 304, header };
}

async function* onceOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}
