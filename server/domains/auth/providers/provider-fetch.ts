import { Agent, type Dispatcher, request } from "undici";

/** Tokens and key sets take a few KiB; a user in a thousand groups some 100 KiB. */
const maxBodyBytes = 1024 * 1024;

/** A request as `openid-client` and `jose` make it. */
export interface ProviderRequest {
  readonly method?: string | undefined;
  readonly headers?: Headers | Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  readonly signal?: AbortSignal | null | undefined;
}

/** Sends a request to a provider. Rejects when the answer is missing or incomplete. */
export type ProviderFetch = (url: string, options: ProviderRequest) => Promise<Response>;

/**
 * Creates a `fetch` for one provider: it follows no redirects, reads at most 1 MiB, uses no proxy, and ends each request after
 * `timeoutMs`, including its body.
 * @param ca PEM certificates to trust in place of the default ones
 */
export function createProviderFetch({
  ca,
  timeoutMs,
}: {
  readonly ca: string | undefined;
  readonly timeoutMs: number;
}): { readonly fetch: ProviderFetch; close(): Promise<void> } {
  const agent = new Agent({
    connections: 16,
    connect: { timeout: timeoutMs, ...(ca === undefined ? {} : { ca }) },
    maxResponseSize: maxBodyBytes,
  });
  return {
    async fetch(url, { method = "GET", headers, body, signal }) {
      const limit = AbortSignal.timeout(timeoutMs);
      const answer = await request(url, {
        dispatcher: agent,
        method: method as Dispatcher.HttpMethod,
        headers: Object.fromEntries(new Headers(headers)),
        body: body === undefined || body === null ? null : String(body),
        signal: signal === undefined || signal === null ? limit : AbortSignal.any([signal, limit]),
      });
      const text = await answer.body.text();
      const { statusCode: status } = answer;
      const hasBody = status !== 204 && status !== 205 && status !== 304;
      return new Response(hasBody ? text : null, { status, headers: responseHeaders(answer.headers) });
    },
    close: () => agent.destroy(),
  };
}

function responseHeaders(headers: Dispatcher.ResponseData["headers"]): Headers {
  const result = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const one of [value ?? []].flat()) {
      result.append(name, one);
    }
  }
  return result;
}
