import { type HttpResponse, isGone } from "./http-exchange.ts";

/** Writes the messages of a stream no faster than its client reads them. */
export interface Backpressure {
  write(chunk: Uint8Array | string): void;
  /**
   * Waits until everything written has gone to the connection, which takes no more than the client reads. False if the client has
   * left.
   */
  flushed(): true | Promise<boolean>;
  /**
   * Waits until one more message may be written. Messages that are ready in one turn of the event loop are sent together; the
   * next one waits if the client is slow. False if the client has left. The bench `grpc-stream` needs it: waiting for each message
   * costs a turn of the event loop.
   */
  canWrite(): true | Promise<boolean>;
}

/** Maximum bytes written in one turn of the event loop. */
const turnMaxBytes = 64 * 1024;

/** @param onSent called when data has been written to the connection */
export function createBackpressure(response: HttpResponse, onSent: () => void): Backpressure {
  return new ResponseBackpressure(response, onSent);
}

/** A class, because each of thousands of streams has one. */
class ResponseBackpressure implements Backpressure {
  readonly #response: HttpResponse;
  readonly #onWritten: (error: Error | null | undefined) => void;
  #openWrites = 0;
  #isNewTurn = true;
  #turnBytes = 0;
  #hasFailed = false;
  #wake: ((isFlushed: boolean) => void) | undefined;
  #wakeInNextTurn: (() => void) | undefined;

  constructor(response: HttpResponse, onSent: () => void) {
    this.#response = response;
    this.#onWritten = (error) => {
      this.#openWrites -= 1;
      onSent();
      this.#hasFailed ||= error != null;
      if (this.#openWrites === 0) {
        this.#wake?.(!this.#hasFailed && !isGone(response));
      }
    };
    response.once("close", () => this.#wake?.(false));
  }

  write(chunk: Uint8Array | string): void {
    if (this.#isNewTurn) {
      this.#isNewTurn = false;
      this.#turnBytes = 0;
      setImmediate(() => {
        this.#isNewTurn = true;
        this.#wakeInNextTurn?.();
      });
    }
    this.#turnBytes += chunk.length;
    this.#openWrites += 1;
    // Over HTTP/2 the response only adds cost to what its stream does.
    (this.#response.stream ?? this.#response).write(chunk, this.#onWritten);
  }

  flushed(): true | Promise<boolean> {
    // Checked first, because Node ends the writes of a client that has left by calling their callbacks.
    if (this.#hasFailed || isGone(this.#response)) {
      return Promise.resolve(false);
    }
    if (this.#openWrites === 0) {
      return true;
    }
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  canWrite(): true | Promise<boolean> {
    if (this.#isNewTurn) {
      return this.flushed();
    }
    return this.#turnBytes < turnMaxBytes || this.#nextTurn();
  }

  // An endless source could otherwise block the event loop: if the client is as fast as the source, or has just left, its socket
  // ends each write in the same turn.
  async #nextTurn(): Promise<boolean> {
    await new Promise<void>((resolve) => {
      this.#wakeInNextTurn = resolve;
    });
    return this.flushed();
  }
}
