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
  // Over HTTP/2 the response adds nothing to what its stream does, but costs.
  const target = response.stream ?? response;
  let openWrites = 0;
  let isNewTurn = true;
  let turnBytes = 0;
  let hasFailed = false;
  let wake: ((isFlushed: boolean) => void) | undefined;
  let wakeInNextTurn: (() => void) | undefined;
  const beginTurn = () => {
    isNewTurn = true;
    wakeInNextTurn?.();
  };
  const onWritten = (error: Error | null | undefined) => {
    openWrites -= 1;
    onLeft();
    hasFailed ||= error != null;
    if (openWrites === 0) {
      wake?.(!hasFailed && !isGone(response));
    }
  };
  response.once("close", () => wake?.(false));

  function flushed(): true | Promise<boolean> {
    // First, because Node ends the writes of a client that has left by calling their callbacks.
    if (hasFailed || isGone(response)) {
      return Promise.resolve(false);
    }
    if (openWrites === 0) {
      return true;
    }
    return new Promise((resolve) => {
      wake = resolve;
    });
  }

  // An endless source would keep the event loop from turning: a socket whose client is as fast, or has just
  // left, ends each write in the same turn.
  async function nextTurn(): Promise<boolean> {
    await new Promise<void>((resolve) => {
      wakeInNextTurn = resolve;
    });
    return flushed();
  }

  return {
    write(chunk) {
      if (isNewTurn) {
        isNewTurn = false;
        turnBytes = 0;
        setImmediate(beginTurn);
      }
      turnBytes += chunk.length;
      openWrites += 1;
      target.write(chunk, onWritten);
    },
    flushed,
    hasRoom() {
      if (isNewTurn) {
        return flushed();
      }
      return turnBytes < turnMaxBytes || nextTurn();
    },
  };
}
