import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import type { Call } from "../call/call.ts";
import type { MessageSink } from "./message-sink.ts";
import { sharedMessageOf } from "./shared-answers.ts";
import type { SharedMessage } from "./shared-message.ts";
import { watchState } from "./watch-state.ts";

/** A state that any number of calls watch. */
export interface StateBroadcast {
  /**
   * Yields the message of the current state, then that of the newest state whenever it may have changed. A slow client gets the
   * newest state next, never a queue of old ones. Ends when the call does.
   * @throws the errors of `read`
   */
  watch(call: WatchingCall): AsyncGenerator<object, void>;
}

export type WatchingCall = Pick<Call, "signal" | "openSink" | "peer" | "protocol" | "isFiltered">;

export interface StateBroadcastOptions {
  /** Registers a function to call when the state may have changed. Returns a function that unregisters it. */
  readonly subscribe: (onChange: () => void) => () => void;
  /** Returns the message of the newest state, created by `SharedAnswers`. */
  readonly read: () => Promise<object>;
}

interface Member {
  readonly sink: MessageSink;
  /** Number of the last change that its messages include. */
  change: number;
  end(error: unknown): void;
}

interface Turn {
  readonly isLast: boolean;
  /** Watchers that were skipped because they have not read the previous message. */
  readonly slowCount: number;
}

/** Writing to one stream takes about 8 µs, so other work waits for about half a millisecond. */
const turnMembers = 64;

/** How often slow clients are checked for having read the previous message. */
const slowRetryMs = 50;

/**
 * Writes each state to all watchers as one message that is encoded once. Watchers are written to in rounds, a limited number in
 * each turn of the event loop. A round of several turns is followed by a pause as long as the round, so that however many
 * watchers and changes there are, at least half of the time is left for other calls.
 */
export function createStateBroadcast({ subscribe, read }: StateBroadcastOptions): StateBroadcast {
  const members = new Set<Member>();
  let change = 0;
  let watcherCount = 0;
  let unsubscribe = () => {};
  let isRunning = false;
  // A round belongs to all watchers, not to the call that triggered it.
  const outsideCalls = AsyncLocalStorage.snapshot();

  function onChange(): void {
    change += 1;
    begin();
  }

  function begin(): void {
    if (!isRunning) {
      isRunning = true;
      void outsideCalls(run);
    }
  }

  async function run(): Promise<void> {
    try {
      while (isAnyBehind()) {
        await writeRound();
      }
    } catch (error) {
      for (const member of [...members]) {
        member.end(error);
      }
    } finally {
      isRunning = false;
    }
  }

  function isAnyBehind(): boolean {
    for (const member of members) {
      if (member.change !== change) {
        return true;
      }
    }
    return false;
  }

  async function writeRound(): Promise<void> {
    const beganAtMs = performance.now();
    const left = members.values();
    let isLong = false;
    let slowCount = 0;
    for (;;) {
      // Each turn writes the newest state, so a watcher that is reached late in one round can be skipped in the next.
      const newestChange = change;
      const message = sharedMessageOf(await read());
      if (message === undefined) {
        throw new TypeError("a state's message is not shared");
      }
      const turn = writeSome(left, message, newestChange);
      slowCount += turn.slowCount;
      if (turn.isLast) {
        break;
      }
      isLong = true;
      await nextTurn();
    }
    const restMs = isLong ? performance.now() - beganAtMs : 0;
    if (isLong || slowCount > 0) {
      await delay(Math.max(restMs, slowCount > 0 ? slowRetryMs : 0), undefined, { ref: false });
    }
  }

  function writeSome(left: Iterator<Member>, message: SharedMessage, newestChange: number): Turn {
    let slowCount = 0;
    let writtenCount = 0;
    while (writtenCount < turnMembers) {
      const next = left.next();
      if (next.done === true) {
        return { isLast: true, slowCount };
      }
      const member = next.value;
      if (member.change === newestChange) {
        continue;
      }
      if (member.sink.unsentBytes === 0 && member.sink.write(message)) {
        member.change = newestChange;
        writtenCount += 1;
      } else {
        slowCount += 1;
      }
    }
    return { isLast: false, slowCount };
  }

  /** Resolves when the signal is aborted. @throws the errors of `read` */
  function join(sink: MessageSink, seenChange: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        members.delete(member);
        signal.removeEventListener("abort", onAbort);
      };
      const onAbort = () => {
        leave();
        resolve();
      };
      const member: Member = {
        sink,
        change: seenChange,
        end(error) {
          leave();
          reject(error);
        },
      };
      members.add(member);
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) {
        onAbort();
      }
      if (seenChange !== change) {
        begin();
      }
    });
  }

  async function* watchTogether(call: WatchingCall): AsyncGenerator<object, void> {
    watcherCount += 1;
    if (watcherCount === 1) {
      unsubscribe = subscribe(onChange);
    }
    try {
      const seenChange = change;
      yield await read();
      await join(call.openSink(), seenChange, call.signal);
    } finally {
      watcherCount -= 1;
      if (watcherCount === 0) {
        unsubscribe();
      }
    }
  }

  return {
    watch(call) {
      // Over HTTP/1.1 a message is repeated after a silence, which is detected in the handler's stream; REST has no streams.
      return call.peer.httpVersion === "2.0" && call.protocol !== "rest" && !call.isFiltered
        ? watchTogether(call)
        : watchState(subscribe, read, call.signal);
    },
  };
}
