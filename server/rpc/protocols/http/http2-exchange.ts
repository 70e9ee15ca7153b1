import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { RequestUsage } from "../../call/request-usage.ts";
import type { Connection, HttpRequest, HttpResponse } from "./http-exchange.ts";

const lostConnection: Connection = { destroyed: true, destroy: () => {} };

/**
 * An HTTP/2 stream as both request and response. Node's compatibility API adds two more streams and a dozen listeners, which
 * takes as long as everything that the gateway does for a call (the bench `grpc-echo`; docs/reference/benchmarks.md, A gRPC call).
 */
export class Http2Exchange implements HttpRequest, HttpResponse {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  statusCode = 200;
  usage: RequestUsage | undefined;
  #headers: OutgoingHttpHeaders | undefined;
  #trailers: OutgoingHttpHeaders | undefined;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[]) {
    this.stream = stream;
    this.headers = headers;
    this.rawHeaders = rawHeaders;
  }

  get method(): string {
    return String(this.headers[":method"]);
  }
  get url(): string {
    return String(this.headers[":path"]);
  }
  get httpVersion(): string {
    return "2.0";
  }
  get socket(): Connection {
    return this.stream.session?.socket ?? lostConnection;
  }
  get complete(): boolean {
    const { readableEnded, aborted, closed, destroyed } = this.stream;
    return readableEnded || aborted || closed || destroyed;
  }
  get readableEnded(): boolean {
    return this.stream.readableEnded;
  }
  get headersSent(): boolean {
    return this.stream.headersSent;
  }
  get destroyed(): boolean {
    return this.stream.destroyed;
  }
  get closed(): boolean {
    return this.stream.closed;
  }
  get writable(): boolean {
    return this.stream.writable;
  }
  get writableLength(): number {
    return this.stream.writableLength;
  }
  get writableEnded(): boolean {
    return this.stream.writableEnded;
  }

  on(event: string, listener: (chunk: Buffer) => void): void {
    this.stream.on(event, listener);
  }
  once(event: string, listener: () => void): void {
    this.stream.once(event, listener);
  }
  off(event: string, listener: (chunk: Buffer) => void): void {
    this.stream.off(event, listener);
  }
  pause(): void {
    this.stream.pause();
  }
  resume(): void {
    this.stream.resume();
  }
  destroy(): void {
    this.stream.destroy();
  }

  setHeader(name: string, value: number | string | string[]): void {
    this.#headers ??= {};
    this.#headers[name] = value;
  }

  /** Takes ownership of the headers. */
  writeHead(status: number, headers: OutgoingHttpHeaders = {}): this {
    headers[":status"] = status;
    // `once`: Node keeps a closed stream for some scavenges, and that must not keep the call alive.
    this.stream.once("wantTrailers", () => this.stream.sendTrailers(this.#trailers ?? {}));
    this.stream.respond(headers, { waitForTrailers: true });
    return this;
  }

  addTrailers(trailers: OutgoingHttpHeaders): void {
    this.#trailers = trailers;
  }

  write(chunk: Uint8Array | string, onWritten?: (error: Error | null | undefined) => void): boolean {
    return this.stream.write(chunk, onWritten);
  }

  /** Ends the answer. Without a head it sends the headers of `setHeader`; without a body as well, that head ends the stream. */
  end(body?: Uint8Array | string, onEnded?: () => void): void {
    if (!this.stream.headersSent) {
      this.stream.respond(
        { ...this.#headers, ":status": this.statusCode },
        { endStream: body === undefined },
      );
    }
    this.stream.end(body, onEnded);
  }
}
