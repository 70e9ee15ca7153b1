import { type HttpResponse, isGone } from "../http-exchange.ts";

/** Writes the messages of a stream no faster than its client takes them. */
export interface Pace {
  write(chunk: Uint8Array | string): void;
  /** Whether all that was written has gone to the connection, which takes no more than the client; false when it left instead. */
  flushed(): true | Promise<boolean>;
  /**
   * Whether one more may be written: messages that are there in one turn of the event loop leave together, and behind them one
   * waits for a client that is slow. False when the client has left instead.
   */
  hasRoom(): true | Promise<boolean>;
}

/** What may be written in one turn of the event loop. */
const turnMaxBytes = 64 * 1024;

/** @param onLeft called when data has been written to the connection */
export function createPace(response: HttpResponse, onLeft: () => void): Pace {
  return new ResponsePace(response, onLeft);
}

/** A class, as each of thousands of streams has one. */
class ResponsePace implements Pace {
  readonly #response: HttpResponse;
  readonly #onWritten: (error: Error | null | undefined) => void;
  #openWrites = 0;
  #isNewTurn = true;
  #turnBytes = 0;
  #hasFailed = false;
  #wake: ((isFlushed: boolean) => void) | undefined;
  #wakeInNextTurn: (() => void) | undefined;

  constructor(response: HttpResponse, onLeft: () => void) {
    this.#response = response;
    this.#onWritten = (error) => {
      this.#openWrites -= 1;
      onLeft();
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
    // Over HTTP/2 the response adds nothing to what its stream does, but costs.
    (this.#response.stream ?? this.#response).write(chunk, this.#onWritten);
  }

  flushed(): true | Promise<boolean> {
    // First, because Node ends the writes of a client that has left by calling their callbacks.
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

  hasRoom(): true | Promise<boolean> {
    if (this.#isNewTurn) {
      return this.flushed();
    }
    return this.#turnBytes < turnMaxBytes || this.#nextTurn();
  }

  // An endless source would keep the event loop from turning: a socket whose client is as fast, or has just
  // left, ends each write in the same turn.
  async #nextTurn(): Promise<boolean> {
    await new Promise<void>((resolve) => {
      this.#wakeInNextTurn = resolve;
    });
    return this.flushed();
  }
}
