import type { FromHost, SharedRequest, StreamPort, ToHost } from "./port-messages.ts";

/** A window's connection to the host of its streams. */
export interface StreamLink {
  /**
   * Makes a request. Its answer is read like that of `fetch`.
   * @throws TypeError when the connection to the gateway or to the host is lost; the signal's reason when that is aborted
   */
  request(request: SharedRequest, signal: AbortSignal | undefined): Promise<Response | "unsupported">;
  /** Ends all calls as lost. */
  cut(): void;
}

/** A host that answers none of three pings is dead. */
const pingMs = 2_000;
const maxMissedPings = 2;

interface Call {
  readonly resolve: (answer: Response | "unsupported") => void;
  readonly reject: (error: unknown) => void;
  readonly stopListening: () => void;
  body: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Not reported as read yet. */
  unreadBytes: number;
}

/** @param onDead called when the host no longer answers; all calls have ended as lost */
export function createStreamLink(port: StreamPort, onDead: () => void): StreamLink {
  const calls = new Map<number, Call>();
  let lastId = 0;
  let missedPings = 0;
  let timer: ReturnType<typeof setInterval> | undefined;
  const post = (message: ToHost) => port.postMessage(message);

  function ping(): void {
    if (missedPings > maxMissedPings) {
      cut();
      port.close();
      onDead();
      return;
    }
    missedPings += 1;
    post({ type: "ping" });
  }

  /** Ends a call; with an error unless the answer is complete or is no longer read. */
  function end(id: number, error?: { readonly reason: unknown }): void {
    const call = calls.get(id);
    calls.delete(id);
    if (calls.size === 0) {
      clearInterval(timer);
      timer = undefined;
      missedPings = 0;
    }
    call?.stopListening();
    if (error !== undefined) {
      call?.reject(error.reason);
      call?.body?.error(error.reason);
    }
  }

  function leave(id: number, error?: { readonly reason: unknown }): void {
    if (calls.has(id)) {
      post({ type: "close", id });
      end(id, error);
    }
  }

  function cut(): void {
    for (const id of [...calls.keys()]) {
      leave(id, connectionLost());
    }
  }

  function answer(id: number, call: Call, status: number, headers: Readonly<Record<string, string>>): void {
    const body = new ReadableStream<Uint8Array>(
      {
        start(controller) {
          call.body = controller;
        },
        // Called whenever everything has been read.
        pull() {
          if (call.unreadBytes > 0) {
            post({ type: "read", id, bytes: call.unreadBytes });
            call.unreadBytes = 0;
          }
        },
        cancel: () => leave(id),
      },
      { highWaterMark: 1, size: ({ byteLength }) => byteLength },
    );
    call.resolve(new Response(body, { status, headers }));
  }

  function take(message: Exclude<FromHost, { type: "pong" }>, call: Call): void {
    switch (message.type) {
      case "head":
        answer(message.id, call, message.status, message.headers);
        break;
      case "data":
        call.unreadBytes += message.data.byteLength;
        call.body?.enqueue(message.data);
        break;
      case "end":
        end(message.id);
        call.body?.close();
        break;
      case "lost":
        end(message.id, connectionLost());
        break;
      case "unsupported":
        end(message.id);
        call.resolve("unsupported");
        break;
    }
  }

  port.addEventListener("message", ({ data }) => {
    missedPings = 0;
    const message = data as FromHost;
    const call = message.type === "pong" ? undefined : calls.get(message.id);
    if (message.type !== "pong" && call !== undefined) {
      take(message, call);
    }
  });
  port.start();

  return {
    request(request, signal) {
      return new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        lastId += 1;
        const id = lastId;
        const onAbort = () => leave(id, { reason: signal?.reason });
        const stopListening = () => signal?.removeEventListener("abort", onAbort);
        calls.set(id, { resolve, reject, stopListening, body: undefined, unreadBytes: 0 });
        signal?.addEventListener("abort", onAbort);
        timer ??= setInterval(ping, pingMs);
        post({ type: "open", id, ...request });
      });
    },
    cut,
  };
}

/** As `fetch` reports it: a TypeError. */
function connectionLost(): { readonly reason: TypeError } {
  return { reason: new TypeError("the connection to the gateway was lost") };
}
