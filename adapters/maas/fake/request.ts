import type { IncomingMessage } from "node:http";

/** A parsed request. */
export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly op: string | undefined;
  readonly query: URLSearchParams;
  /** `undefined` if the body has a type that MAAS does not parse, such as JSON. */
  readonly form: URLSearchParams | undefined;
  readonly authorization: string | undefined;
}

const maxBodyBytes = 4 * 1024 * 1024;

/**
 * Parses the body as `application/x-www-form-urlencoded` or `multipart/form-data`. @throws Error when it is too long or
 * truncated
 */
export async function readRequest(message: IncomingMessage): Promise<FakeRequest> {
  const { pathname, searchParams: query } = new URL(message.url ?? "/", "http://maas");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) {
      throw new Error("too long");
    }
    chunks.push(chunk);
  }
  const form = await formFrom(Buffer.concat(chunks), message.headers["content-type"] ?? "");
  return {
    method: message.method ?? "GET",
    path: pathname,
    op: query.get("op") ?? undefined,
    query,
    form,
    authorization: message.headers.authorization,
  };
}

async function formFrom(body: Buffer, contentType: string): Promise<URLSearchParams | undefined> {
  if (body.length === 0) {
    return new URLSearchParams();
  }
  if (/^application\/x-www-form-urlencoded\b/.test(contentType)) {
    return new URLSearchParams(body.toString("utf8"));
  }
  if (!/^multipart\/form-data\b/.test(contentType)) {
    return undefined;
  }
  const headers = { "content-type": contentType };
  const data = await new Response(new Uint8Array(body), { headers }).formData();
  const form = new URLSearchParams();
  for (const [key, value] of data) {
    form.append(key, typeof value === "string" ? value : await value.text());
  }
  return form;
}
