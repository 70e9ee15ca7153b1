import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { text } from "node:stream/consumers";
import type { Test } from "tap";

/** Which requests the gate holds. */
export interface HoldOptions {
  /** Matched against the beginning of a request: `PUT /bucket/locks/0a1b`. */
  readonly pattern: RegExp;
  /** Number of matching requests that pass first; default: none. */
  readonly passes?: number;
}

/** Requests held at the gate. Until `release`, their clients are certainly in the middle of what needs the responses. */
export interface Hold {
  /** Resolves once a request is held. */
  untilHeld(): Promise<void>;
  /** Releases the held requests, and lets later ones pass. */
  release(): Promise<void>;
}

interface Held {
  readonly pattern: RegExp;
  passes: number;
  readonly isHeld: PromiseWithResolvers<void>;
  readonly isReleased: PromiseWithResolvers<void>;
}

const holdsPath = "/-/holds";

/**
 * Starts a relay in front of an S3 endpoint that runs until the test ends and passes everything on unchanged. `holdAtGate`
 * controls it, also from a virtual machine.
 * @param endpoint `http://127.0.0.1:port`
 * @returns the URL of the gate
 */
export async function startS3Gate(t: Test, endpoint: string): Promise<string> {
  const { hostname, port } = new URL(endpoint);
  const holds = new Map<string, Held>();
  let createdHolds = 0;

  async function forward(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = "", headers } = message;
    const hold = [...holds.values()].find(({ pattern }) => pattern.test(`${method} ${url}`));
    if (hold !== undefined) {
      hold.passes -= 1;
      if (hold.passes < 0) {
        hold.isHeld.resolve();
        await hold.isReleased.promise;
      }
    }
    // The signature covers the host name that the client used.
    const onward = request({ hostname, port, method, path: url, headers });
    onward.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, response, () => {});
    });
    onward.on("error", () => response.destroy());
    pipeline(message, onward, () => {});
  }

  /** POST creates a hold and returns its number, GET responds once it holds a request, DELETE releases it. */
  async function control(message: IncomingMessage, response: ServerResponse): Promise<void> {
    if (message.method === "POST") {
      const { pattern, passes }: { pattern: string; passes: number } = JSON.parse(await text(message));
      const [isHeld, isReleased] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const number = String(++createdHolds);
      holds.set(number, { pattern: new RegExp(pattern), passes, isHeld, isReleased });
      response.end(number);
      return;
    }
    const number = message.url?.split("/").at(-1) ?? "";
    const hold = holds.get(number);
    if (message.method === "GET") {
      await hold?.isHeld.promise;
    } else {
      holds.delete(number);
      hold?.isReleased.resolve();
    }
    response.end();
  }

  // No timeouts, because the gate holds requests.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 0 }, (message, response) => {
    const handle = message.url?.startsWith(holdsPath) ? control : forward;
    handle(message, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(async () => {
    const isClosed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await isClosed;
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}

/** Makes the gate at `gateUrl` hold matching requests from now on. */
export async function holdAtGate(gateUrl: string, { pattern, passes = 0 }: HoldOptions): Promise<Hold> {
  async function call(path: string, options: RequestInit): Promise<string> {
    const response = await fetch(`${gateUrl}${holdsPath}${path}`, options);
    if (!response.ok) {
      throw new Error(`the gate returned ${response.status}`);
    }
    return response.text();
  }
  const number = await call("", {
    method: "POST",
    body: JSON.stringify({ pattern: pattern.source, passes }),
  });
  return {
    async untilHeld() {
      await call(`/${number}`, { method: "GET" });
    },
    async release() {
      await call(`/${number}`, { method: "DELETE" });
    },
  };
}
