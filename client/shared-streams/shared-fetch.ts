import type { StreamPort, StreamWorker } from "./port-messages.ts";
import { createStreamHost } from "./stream-host.ts";
import { createStreamLink, type StreamLink } from "./stream-link.ts";

/** Starts the worker that makes the streaming calls of all windows: `stream-worker.ts` as a SharedWorker. */
export type StartStreamWorker = () => StreamWorker;

/** The parts of a page that are used here; Node has none of them. */
interface Page {
  readonly SharedWorker?: unknown;
  readonly addEventListener?: (type: "pagehide", listener: () => void) => void;
  readonly performance: { getEntriesByType?(type: string): readonly Resource[] };
}

interface Resource {
  readonly name: string;
  readonly nextHopProtocol?: string;
}

const page = globalThis as unknown as Page;

/**
 * Returns a `fetch` for the streams of the Connect protocol, which share one connection: of all windows, if the browser has
 * SharedWorker, else of this one. Streams that HTTP/2 already carries over one connection are requested directly. So are those of
 * a gateway without `hostplane.v1.StreamService`.
 * @param fetch makes direct requests
 */
export function createSharedFetch(
  startWorker: StartStreamWorker,
  fetch: typeof globalThis.fetch = (...request) => globalThis.fetch(...request),
): typeof globalThis.fetch {
  let link: StreamLink | undefined;
  let isSupported = true;
  let hasWorker = page.SharedWorker !== undefined;

  function connect(): StreamLink {
    let port: StreamPort;
    if (hasWorker) {
      const worker = startWorker();
      ({ port } = worker);
      worker.addEventListener("error", () => {
        // Its script cannot be loaded.
        hasWorker = false;
        link?.cut();
        link = undefined;
      });
    } else {
      const channel = new MessageChannel();
      createStreamHost(fetch).serve(channel.port1 as unknown as StreamPort);
      port = channel.port2 as unknown as StreamPort;
    }
    return createStreamLink(port, () => {
      link = undefined;
    });
  }

  // The worker does not learn that a window has closed.
  page.addEventListener?.("pagehide", () => link?.cut());

  return async (input, init) => {
    const url = new URL(String(input));
    if (!isSupported || usesHttp2(url)) {
      return fetch(input, init);
    }
    link ??= connect();
    const [, baseUrl = "", method = ""] = /^(.*)\/([^/]+\/[^/]+)$/.exec(url.href) ?? [];
    const request = {
      baseUrl,
      method,
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: init?.body as Uint8Array<ArrayBuffer>,
    };
    const answer = await link.request(request, init?.signal ?? undefined);
    if (answer !== "unsupported") {
      return answer;
    }
    isSupported = false;
    return fetch(input, init);
  };
}

/** Reports whether the browser has used HTTP/2 or 3 for the URL's origin. It does not say for most foreign origins. */
function usesHttp2({ origin, protocol }: URL): boolean {
  if (protocol !== "https:") {
    return false;
  }
  const loaded = ["navigation", "resource"].flatMap(
    (type) => page.performance.getEntriesByType?.(type) ?? [],
  );
  return loaded.some(
    ({ name, nextHopProtocol = "" }) => name.startsWith(`${origin}/`) && /^h[23]/.test(nextHopProtocol),
  );
}
