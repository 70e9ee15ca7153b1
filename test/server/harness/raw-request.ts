import { once } from "node:events";
import * as http from "node:http";
import * as http2 from "node:http2";
import * as net from "node:net";
import { buffer } from "node:stream/consumers";

export interface RawRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** If set, the request is sent over this unix socket instead of to the URL's host. */
  readonly socketPath?: string;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly trailers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Sends one request exactly as given over HTTP/1.1, on a new connection. */
export async function requestHttp1(url: string, raw: RawRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const request = http.request({
    ...(raw.socketPath === undefined ? { hostname, port } : { socketPath: raw.socketPath }),
    method: raw.method ?? "POST",
    path: raw.path,
    headers: raw.headers ?? {},
    agent: false,
  });
  request.end(raw.body);
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  const body = await buffer(response);
  return { status: response.statusCode ?? 0, headers: response.headers, trailers: response.trailers, body };
}

/** Does the same over HTTP/2. A `host` header is sent as `:authority`. */
export async function requestHttp2(url: string, raw: RawRequest): Promise<RawAnswer> {
  const { socketPath } = raw;
  const session = http2.connect(
    url,
    socketPath === undefined ? {} : { createConnection: () => net.connect(socketPath) },
  );
  session.on("error", () => {});
  try {
    const { host, ...headers } = raw.headers ?? {};
    const stream = session.request({
      ":method": raw.method ?? "POST",
      ":path": raw.path,
      ...(host === undefined ? {} : { ":authority": host }),
      ...headers,
    });
    let trailers: RawAnswer["trailers"] = {};
    stream.once("trailers", (received) => {
      trailers = plainHeaders(received);
    });
    stream.end(raw.body);
    const [received] = (await once(stream, "response")) as [
      http2.IncomingHttpHeaders & { ":status": number },
    ];
    const body = await buffer(stream);
    return { status: received[":status"], headers: plainHeaders(received), trailers, body };
  } finally {
    session.destroy();
  }
}

/** Removes HTTP/2's pseudo-headers and Node's symbols, so that answers of both versions can be compared. */
function plainHeaders(received: http2.IncomingHttpHeaders): RawAnswer["headers"] {
  return Object.fromEntries(Object.entries(received).filter(([name]) => !name.startsWith(":")));
}

/** Both functions, to send the same request over each version. */
export const requestOver = { "1.1": requestHttp1, "2": requestHttp2 } as const;
