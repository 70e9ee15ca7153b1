import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { type Dispatcher, Pool } from "undici";
import { backOffMs } from "../host/back-off.ts";
import { InfraError } from "../host/infra-error.ts";
import { createLimiter } from "../host/limiter.ts";
import { authorizationHeader } from "./authorization.ts";
import {
  errorFromBusy,
  errorFromCall,
  errorFromStatus,
  errorFromUnauthorized,
  type MaasRefusal,
  notUnderstood,
  quotedWords,
  type RequestDescription,
} from "./errors.ts";
import type { MaasApiKey } from "./names.ts";
import { maasReasons } from "./reasons.ts";

/** Keys may be repeated. */
export type Fields = readonly [key: string, value: string][];

export interface MaasRequest extends RequestDescription {
  /** Relative to `/api/2.0/`, with a trailing slash, which MAAS requires. E.g. `machines/m6rnsc/`. */
  readonly path: string;
  /** The operation. */
  readonly op?: string;
  readonly query?: Fields;
  /** Turns the request into a POST. */
  readonly form?: Fields;
}

/** A JSON value, null if there is no body; or a refusal by MAAS. */
export type MaasReply = { readonly value: unknown } | { readonly refusal: MaasRefusal };

export interface MaasClient {
  /**
   * Sends a request that changes nothing, and retries it if there is no reply, until its deadline or the signal.
   * @throws InfraError MAAS_UNAVAILABLE, MAAS_DENIED (the key is refused), MAAS_FAILED, and the signal's reason
   */
  read(request: MaasRequest, signal?: AbortSignal): Promise<MaasReply>;
  /**
   * Sends a request once. Before a retry, the caller must check whether the change has been made, even after a conflict
   * with another transaction, which is MAAS_UNAVAILABLE with MAAS's `retryAfterMs`.
   * @throws InfraError as `read`, and NO_ADDRESS
   */
  change(request: MaasRequest & { readonly form: Fields }): Promise<MaasReply>;
  close(): Promise<void>;
}

export interface MaasClientOptions {
  /** URL in the form of `parseMaasUrl`. */
  readonly url: string;
  readonly apiKey: MaasApiKey;
  /** PEM certificate to trust for https instead of the default ones. */
  readonly ca?: string | undefined;
  /**
   * Deadlines of a read with all its retries, 30 s by default, and of a change, which MAAS may process slowly, 120 s by
   * default.
   */
  readonly readPatienceMs?: number | undefined;
  readonly changePatienceMs?: number | undefined;
}

/** Result of an attempt; `afterMs` is the delay before another attempt that MAAS asks for. */
type Attempt = { readonly reply: MaasReply } | { readonly error: InfraError; readonly afterMs: number };

const maxTries = 4;
const maxBodyBytes = 256 * 1024 * 1024;
const busyStatuses: readonly number[] = [429, 502, 503, 504];
const refusalStatuses: readonly number[] = [400, 403, 404, 409];

/**
 * Creates a client for MAAS's API 2.0. It ignores the environment's proxy settings, since a proxy would see the key.
 */
export function createMaasClient(options: MaasClientOptions): MaasClient {
  const { url, apiKey, ca, readPatienceMs = 30_000, changePatienceMs = 120_000 } = options;
  const { origin, pathname } = new URL(url);
  const connect = { timeout: 5_000, ...(ca !== undefined && { ca }) };
  const pool = new Pool(origin, { connections: 16, headersTimeout: 0, bodyTimeout: 0, connect });
  const reads = createLimiter({ what: "maas calls", maxRunning: 8, maxWaiting: 4096 });
  const changes = createLimiter({ what: "maas changes", maxRunning: 8, maxWaiting: 1024 });
  const closing = new AbortController();

  function optionsOf({ path, op, query = [], form }: MaasRequest) {
    const operation: Fields = op === undefined ? [] : [["op", op]];
    const parameters = new URLSearchParams([...operation, ...query]);
    const target = `${pathname}/api/2.0/${path}${parameters.size === 0 ? "" : `?${parameters}`}`;
    // Each attempt has its own nonce, since MAAS accepts a nonce once.
    const authorization = authorizationHeader(apiKey, {
      nonce: randomUUID(),
      timestampSeconds: Math.floor(Date.now() / 1000),
    });
    const headers = { authorization, accept: "application/json" };
    if (form === undefined) {
      return { method: "GET" as const, path: target, headers };
    }
    const body = new URLSearchParams([...form]).toString();
    const type = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
    return { method: "POST" as const, path: target, headers: { ...headers, ...type }, body };
  }

  async function attempt(request: MaasRequest, signal: AbortSignal): Promise<Attempt> {
    try {
      const answer = await pool.request({ ...optionsOf(request), signal });
      const { statusCode: status, headers } = answer;
      if (status >= 200 && status < 300) {
        return { reply: { value: valueFrom(await textOf(answer), request) } };
      }
      const isBusy = busyStatuses.includes(status);
      if (!isBusy && !isRefusalStatus(status)) {
        // The body is ignored: that of a 401 may contain the correct secret.
        await answer.body.dump();
        throw status === 401
          ? errorFromUnauthorized(url, headerOf(headers, "date"), Date.now())
          : errorFromStatus(status, request);
      }
      const text = await textOf(answer);
      const words = quotedWords(headerOf(headers, "content-type") ?? "", text);
      const retryAfter = headerOf(headers, "retry-after");
      const isConflict = status === 409 && retryAfter !== undefined;
      if (isRefusalStatus(status) && !isConflict) {
        return { reply: { refusal: { status, words, isEmpty: text === "" } } };
      }
      const afterMs = msFromRetryAfter(retryAfter);
      const retryAfterMs = retryAfter === undefined ? undefined : afterMs;
      const error = errorFromBusy({ status, words }, request, { url, retryAfterMs });
      return { error, afterMs };
    } catch (error) {
      if (error instanceof InfraError) {
        throw error;
      }
      return { error: errorFromCall(error, url), afterMs: 0 };
    }
  }

  async function call(
    request: MaasRequest,
    { isRead, signal }: { readonly isRead: boolean; readonly signal?: AbortSignal | undefined },
  ): Promise<MaasReply> {
    const patienceMs = isRead ? readPatienceMs : changePatienceMs;
    const deadlineMs = performance.now() + patienceMs;
    const ends = [AbortSignal.timeout(patienceMs), closing.signal];
    const end = AbortSignal.any(signal === undefined ? ends : [...ends, signal]);
    for (let tries = 1; ; tries += 1) {
      const outcome = await attempt(request, end);
      signal?.throwIfAborted();
      if ("reply" in outcome) {
        return outcome.reply;
      }
      const pauseMs = outcome.afterMs + backOffMs(tries, { firstMs: 200, longestMs: 5_000 });
      const isLast = tries === maxTries || performance.now() + pauseMs > deadlineMs;
      if (!isRead || isLast || end.aborted) {
        throw outcome.error;
      }
      try {
        await wait(pauseMs, undefined, { signal: end });
      } catch {
        signal?.throwIfAborted();
        throw outcome.error;
      }
    }
  }

  return {
    read(request, signal) {
      return reads.run(() => call(request, { isRead: true, signal }), signal);
    },
    change(request) {
      return changes.run(() => call(request, { isRead: false }));
    },
    async close() {
      closing.abort(new InfraError(maasReasons.MAAS_UNAVAILABLE, "The MAAS client is closed"));
      await pool.destroy();
    },
  };
}

function isRefusalStatus(status: number): status is MaasRefusal["status"] {
  return refusalStatuses.includes(status);
}

function headerOf(headers: Dispatcher.ResponseData["headers"], name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : value?.[0];
}

async function textOf({ body }: Dispatcher.ResponseData): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBodyBytes) {
      throw notUnderstood("a call", `it is longer than ${maxBodyBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function valueFrom(text: string, { what }: RequestDescription): unknown {
  if (text === "") {
    return null;
  }
  try {
    return JSON.parse(text);
  } catch {
    throw notUnderstood(what, "it is not JSON");
  }
}

const longestRetryAfterMs = 60_000;

/** Parses seconds or a date. A missing, past or invalid value is 0; the maximum is a minute. */
export function msFromRetryAfter(header: string | undefined, nowMs = Date.now()): number {
  const ms = /^[0-9]+$/.test(header ?? "") ? Number(header) * 1000 : Date.parse(header ?? "") - nowMs;
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), longestRetryAfterMs);
}
