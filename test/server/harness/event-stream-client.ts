import { once } from "node:events";
import * as http from "node:http";
import * as http2 from "node:http2";
import * as https from "node:https";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { createEventParser, type EventParser, type ParsedEvent } from "../rpc/protocols/sse/event-parser.ts";
import type { Client } from "./protocols.ts";

/** A request for server-sent events. */
export interface EventStreamRequest {
  readonly httpVersion?: "1.1" | "2";
  /** GET if there is no body. */
  readonly method?: string;
  readonly path: string;
  /** Sent besides `accept` and, if there is a body, `content-type`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly tls?: Client["tls"];
  readonly signal?: AbortSignal | undefined;
}

/** The answer. */
export interface EventStream {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly parser: EventParser;
  /** Returns the whole body of an answer that is not a stream. */
  text(): Promise<string>;
  /** Returns the next event; undefined at the end of the stream. @throws the error that cut it */
  next(): Promise<ParsedEvent | undefined>;
  /** Returns events up to the first that matches. */
  until(isLast: (event: ParsedEvent) => boolean): Promise<ParsedEvent[]>;
  /** Closes the connection. */
  close(): void;
}

/** Opens a stream of events on a new connection. */
export async function openEventStream(url: string, request: EventStreamRequest): Promise<EventStream> {
  const { body, path, tls = {} } = request;
  const headers = {
    accept: "text/event-stream",
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...request.headers,
  };
  const method = request.method ?? (body === undefined ? "GET" : "POST");
  const sent = { url, method, path, headers, body, tls, signal: request.signal };
  const answer = request.httpVersion === "2" ? await overHttp2(sent) : await overHttp1(sent);
  const { readable, close } = answer;
  const parser = createEventParser();
  const events = eventsOf(readable, parser);

  async function next(): Promise<ParsedEvent | undefined> {
    const { value } = await events.next();
    return value;
  }

  return {
    status: answer.status,
    headers: answer.headers,
    parser,
    text: () => text(readable).finally(close),
    next,
    async until(isLast) {
      const read: ParsedEvent[] = [];
      for (;;) {
        const event = await next();
        if (event === undefined) {
          throw new Error(`the stream ended after ${JSON.stringify(read)}`);
        }
        read.push(event);
        if (isLast(event)) {
          return read;
        }
      }
    },
    close,
  };
}

interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly readable: Readable;
  close(): void;
}

interface Sent {
  readonly url: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly tls: NonNullable<Client["tls"]>;
  readonly signal: AbortSignal | undefined;
}

async function overHttp1({ url, method, path, headers, body, tls, signal }: Sent): Promise<Answer> {
  const { protocol, hostname, port } = new URL(url);
  const leaving = signal === undefined ? {} : { signal };
  const options = { hostname, port, method, path, headers, agent: false, ...leaving, ...tls };
  const request = protocol === "https:" ? https.request(options) : http.request(options);
  request.on("error", () => {});
  request.end(body);
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  response.on("error", () => {});
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    readable: response,
    close: () => request.destroy(),
  };
}

async function overHttp2({ url, method, path, headers, body, tls, signal }: Sent): Promise<Answer> {
  const session = http2.connect(url, tls);
  session.on("error", () => {});
  const { host, ...others } = headers;
  const stream = session.request(
    {
      ":method": method,
      ":path": path,
      ...(host === undefined ? {} : { ":authority": host }),
      ...others,
    },
    signal === undefined ? {} : { signal },
  );
  stream.once("close", () => session.close());
  stream.on("error", () => {});
  stream.end(body);
  const unanswered = once(stream, "close").then(() => {
    throw new Error("the stream was closed without an answer");
  });
  const [received] = (await Promise.race([once(stream, "response"), unanswered])) as [
    http2.IncomingHttpHeaders & { ":status": number },
  ];
  return {
    status: received[":status"],
    headers: Object.fromEntries(Object.entries(received).filter(([name]) => !name.startsWith(":"))),
    readable: stream,
    close: () => session.destroy(),
  };
}

async function* eventsOf(readable: Readable, parser: EventParser): AsyncGenerator<ParsedEvent, undefined> {
  readable.setEncoding("utf8");
  for await (const chunk of readable) {
    yield* parser.push(chunk as string);
  }
  return undefined;
}
