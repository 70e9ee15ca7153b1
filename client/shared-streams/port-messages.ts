/** What a window sends to the host of its streams. `id` is the number of a call of this window. */
export type ToHost =
  | ({ readonly type: "open"; readonly id: number } & SharedRequest)
  /** The window reads no more of the answer. */
  | { readonly type: "close"; readonly id: number }
  /** The window has read this much of the answer. */
  | { readonly type: "read"; readonly id: number; readonly bytes: number }
  | { readonly type: "ping" };

/** What the host sends to a window. */
export type FromHost =
  | {
      readonly type: "head";
      readonly id: number;
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
    }
  | { readonly type: "data"; readonly id: number; readonly data: Uint8Array<ArrayBuffer> }
  | { readonly type: "end"; readonly id: number }
  /** The answer is cut: its connection was lost, or the window was too slow. */
  | { readonly type: "lost"; readonly id: number }
  /** The gateway has no carriers. */
  | { readonly type: "unsupported"; readonly id: number }
  /** The answer to a ping. */
  | { readonly type: "pong" };

/** A request of the Connect protocol for a stream. */
export interface SharedRequest {
  /** Address of the gateway, and the full name of the method: together, the URL of the request. */
  readonly baseUrl: string;
  readonly method: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** The parts of a MessagePort that are used. */
export interface StreamPort {
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  start(): void;
  close(): void;
}

/** The parts of a SharedWorker that are used. */
export interface StreamWorker {
  readonly port: StreamPort;
  addEventListener(type: "error", listener: () => void): void;
}
