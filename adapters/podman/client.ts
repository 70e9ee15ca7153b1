import { type Dispatcher, Pool } from "undici";
import { createLimiter } from "../host/limiter.ts";
import { errorFromCall, errorFromRefusal, notUnderstood } from "./errors.ts";

/**
 * Podman's REST API on its unix socket. Paths are relative to `/v4.0.0/libpod/` and include the query, e.g.
 * `pods/json`.
 */
export interface PodmanClient {
  /** Returns the body of the reply as text. @throws InfraError PODMAN_UNAVAILABLE, PODMAN_DENIED, or by the refusal */
  text(path: string, signal?: AbortSignal): Promise<string>;
  /**
   * Makes a change. Returns false if Podman had nothing to do, which it reports as 304.
   * @param patienceMs timeout of the reply
   */
  change(method: "POST" | "DELETE", path: string, options: { readonly patienceMs: number }): Promise<boolean>;
  /**
   * Streams a body at the pace of its reader; resolves when Podman has started it. Leaving the loop closes the
   * connection. The stream ends when Podman ends it, and throws when the connection breaks. A caller that does not read
   * it must abort the signal.
   */
  stream(method: "GET" | "POST", path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  close(): Promise<void>;
}

interface RequestOptions extends Omit<Partial<Dispatcher.RequestOptions>, "signal"> {
  readonly path: string;
  readonly signal?: AbortSignal;
}

const prefix = "/v4.0.0/libpod/";
const patienceMs = 30_000;
const maxBodyBytes = 256 * 1024 * 1024;

/** Creates a client that opens a connection for each call that finds no idle one. */
export function createPodmanClient(socketPath: string): PodmanClient {
  const base = { socketPath, connect: { socketPath, timeout: 5_000 } };
  const calls = new Pool("http://podman", { ...base, connections: 8 });
  // Each stream has its own connection. A followed log may be silent for a year, and its headers arrive with the first
  // line.
  const streams = new Pool("http://podman", { ...base, headersTimeout: 0, bodyTimeout: 0 });
  const reads = createLimiter({ what: "podman calls", maxRunning: 8, maxWaiting: 4096 });
  // A pod may take long to stop, which must not delay reads.
  const changes = createLimiter({ what: "podman changes", maxRunning: 16, maxWaiting: 1024 });

  async function request(pool: Pool, options: RequestOptions): Promise<Dispatcher.ResponseData> {
    const { path, method = "GET", ...rest } = options;
    try {
      return await pool.request({ ...rest, method, path: prefix + path });
    } catch (error) {
      options.signal?.throwIfAborted();
      throw errorFromCall(error, socketPath);
    }
  }

  async function textOf({ body }: Dispatcher.ResponseData, signal?: AbortSignal): Promise<string> {
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of body) {
        size += chunk.length;
        if (size > maxBodyBytes) {
          throw notUnderstood("a call", `it is longer than ${maxBodyBytes} bytes`);
        }
        chunks.push(chunk);
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw errorFromCall(error, socketPath);
    }
    return Buffer.concat(chunks).toString("utf8");
  }

  async function* chunksOf(
    { body }: Dispatcher.ResponseData,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      signal.throwIfAborted();
      throw errorFromCall(error, socketPath);
    }
  }

  async function assertOk(answer: Dispatcher.ResponseData, signal?: AbortSignal): Promise<void> {
    if (answer.statusCode >= 300 && answer.statusCode !== 304) {
      throw errorFromRefusal(refusalOf(answer.statusCode, await textOf(answer, signal)));
    }
  }

  async function call(pool: Pool, options: RequestOptions, signal?: AbortSignal) {
    const answer = await request(pool, { ...options, ...(signal && { signal }) });
    await assertOk(answer, signal);
    return { status: answer.statusCode, text: await textOf(answer, signal) };
  }

  return {
    text(path, signal) {
      const times = { headersTimeout: patienceMs, bodyTimeout: patienceMs };
      return reads.run(async () => (await call(calls, { path, ...times }, signal)).text, signal);
    },
    change(method, path, { patienceMs }) {
      const times = { headersTimeout: patienceMs, bodyTimeout: patienceMs };
      return changes.run(async () => (await call(streams, { method, path, ...times })).status !== 304);
    },
    async stream(method, path, signal) {
      const answer = await request(streams, { method, path, signal });
      await assertOk(answer, signal);
      return chunksOf(answer, signal);
    },
    async close() {
      await Promise.all([calls.destroy(), streams.destroy()]);
    },
  };
}

/**
 * Parses a refusal. Most are JSON, e.g. `{"cause":"no such pod","message":"no pod with name or ID x found: no such
 * pod","response":404}`.
 */
export function refusalOf(status: number, text: string): { status: number; message: string; cause: string } {
  try {
    const { message, cause, Errs: errors } = JSON.parse(text);
    // If containers of a pod fail to start, stop or be killed, Podman returns 409 with `{"Errs":["starting container
    // …"],"Id":"…"}`.
    const words = Array.isArray(errors) ? errors.join("; ") : message;
    return { status, message: String(words ?? text), cause: String(cause ?? "") };
  } catch {
    return { status, message: text, cause: "" };
  }
}
