import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { loadCore, pinned } from "./pinned.ts";
import type { Target } from "./target.ts";

/** A request to send repeatedly; connections times streams of them run in parallel. */
export interface Load {
  readonly protocol: "h2c" | "http/1.1";
  readonly path: string;
  readonly contentType: string;
  readonly connections: number;
  /** Parallel requests per connection; HTTP/1.1 has one. */
  readonly streams: number;
}

/** The counters of h2load. */
export interface Loaded {
  /** Requests with a 2xx response. */
  readonly succeeded: number;
  /** Bytes of all responses, without headers and framing. */
  readonly dataBytes: number;
}

/** Returns why h2load cannot run here, or false. */
export function h2loadSkipReason(): string | false {
  const isThere = (process.env.PATH ?? "")
    .split(":")
    .some((directory) => existsSync(join(directory, "h2load")));
  return isThere ? false : "h2load is not installed (Debian: nghttp2-client)";
}

/**
 * Sends the given number of requests, and resolves when all have a response.
 * @param bodyFile body of each request
 * @throws Error when any request has no 2xx response
 */
export async function runH2load(
  target: Target,
  load: Load,
  requests: number,
  bodyFile: string,
): Promise<Loaded> {
  const { protocol, path, contentType, connections, streams } = load;
  const headers = [
    `content-type: ${contentType}`,
    "te: trailers",
    ...(target.token === undefined ? [] : [`authorization: Bearer ${target.token}`]),
  ];
  const [program, ...args] = pinned(loadCore, [
    "h2load",
    ...["-n", String(requests), "-c", String(Math.min(connections, requests)), "-m", String(streams)],
    ...["-p", protocol, "-d", bodyFile],
    ...headers.flatMap((header) => ["-H", header]),
    `http://127.0.0.1:${target.port}${path}`,
  ]);
  const { stdout } = await promisify(execFile)(program, args);
  const loaded = parseH2load(stdout);
  if (loaded.succeeded !== requests) {
    throw new Error(`${loaded.succeeded} of ${requests} calls of ${path} succeeded:\n${stdout}`);
  }
  return loaded;
}

/** Parses the summary of h2load. @throws Error for any other output */
export function parseH2load(output: string): Loaded {
  // status codes: 10000 2xx, 0 3xx, 0 4xx, 0 5xx
  const succeeded = /^status codes: (\d+) 2xx/m.exec(output)?.[1];
  // traffic: 10.55MB (11064260) total, 30.30KB (31030) headers (space savings 97.42%), 9.90MB (10380000) data
  const dataBytes = /^traffic: .* \((\d+)\) data$/m.exec(output)?.[1];
  if (succeeded === undefined || dataBytes === undefined) {
    throw new Error(`no summary in the output of h2load:\n${output}`);
  }
  return { succeeded: Number(succeeded), dataBytes: Number(dataBytes) };
}
