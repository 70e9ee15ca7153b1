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

/** What may be written in one turn of the event loop without a look at whether it leaves. */
const turnMaxBytes = 64 * 1024;

export function createPace(response: HttpResponse): Pace {
  // Over HTTP/2 the response adds nothing to what its stream does, but costs.
  const target = response.stream ?? response;
  let openWrites = 0;
  let isNewTurn = true;
  let turnBytes = 0;
  let wake: ((isFlushed: boolean) => void) | undefined;
  const beginTurn = () => {
    isNewTurn = true;
  };
  const onWritten = () => {
    openWrites -= 1;
    if (openWrites === 0) {
      wake?.(!isGone(response));
    }
  };
  response.once("close", () => wake?.(false));

  function flushed(): true | Promise<boolean> {
    // First, because Node ends the writes of a client that has left by calling their callbacks.
    if (isGone(response)) {
      return Promise.resolve(false);
    }
    if (openWrites === 0) {
      return true;
    }
    return new Promise((resolve) => {
      wake = resolve;
    });
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
    hasRoom: () => (isNewTurn || turnBytes >= turnMaxBytes ? flushed() : true),
  };
}
