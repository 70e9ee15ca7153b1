import { EventEmitter } from "node:events";
import type { EventPlace, RuntimeEvent } from "../adapter.ts";
import { nowNs } from "../clock.ts";
import { createEventQueue, gapEvent } from "../events/event-queue.ts";

/** The event records of a sandbox and their readers. */
export interface SandboxJournal {
  add(event: RuntimeEvent): void;
  /** Returns all records that are kept; image events are not. */
  recorded(): readonly RuntimeEvent[];
  forget(): void;
  events(after: EventPlace | undefined, signal: AbortSignal): AsyncGenerator<readonly RuntimeEvent[], void>;
  /** While held, events are not delivered; they are once it is released. */
  setHeld(isHeld: boolean): void;
  /** Calls back when an event is delivered. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void;
}

export interface SandboxJournalOptions {
  readonly queueLimit: number;
  readonly historyLimit: number;
  readonly onEvent: () => void;
}

/** @param options `queueLimit`: events kept for a slow reader; `historyLimit`: records kept for later readers */
export function createSandboxJournal({
  queueLimit,
  historyLimit,
  onEvent,
}: SandboxJournalOptions): SandboxJournal {
  const emitter = new EventEmitter<{ event: [RuntimeEvent]; change: [] }>();
  emitter.setMaxListeners(0);
  let recorded: RuntimeEvent[] = [];
  const pending: RuntimeEvent[] = [];
  let isHeld = false;

  function emit(event: RuntimeEvent): void {
    onEvent();
    emitter.emit("event", event);
    emitter.emit("change");
  }

  function pastAfter({ key, timeNs }: EventPlace): readonly RuntimeEvent[] {
    const at = recorded.findIndex((event) => event.key === key);
    return at === -1
      ? [gapEvent(timeNs, nowNs(), recorded.at(-1)), ...recorded.filter((each) => each.timeNs > timeNs)]
      : recorded.slice(at + 1);
  }

  return {
    add(event) {
      if (event.kind !== "imageAdded" && event.kind !== "imageRemoved") {
        recorded.push(event);
        recorded = recorded.slice(-historyLimit);
      }
      if (isHeld) {
        pending.push(event);
      } else {
        emit(event);
      }
    },
    recorded: () => recorded,
    forget() {
      recorded = [];
    },
    async *events(after, signal) {
      const queue = createEventQueue(queueLimit);
      emitter.on("event", queue.push);
      try {
        if (after !== undefined) {
          yield pastAfter(after);
        }
        for (let batch = await queue.take(signal); batch !== undefined; batch = await queue.take(signal)) {
          yield batch;
        }
      } finally {
        emitter.off("event", queue.push);
      }
    },
    setHeld(held) {
      isHeld = held;
      emitter.emit("change");
      for (const event of isHeld ? [] : pending.splice(0)) {
        emit(event);
      }
    },
    onChange(listener) {
      emitter.on("change", listener);
      return () => emitter.off("change", listener);
    },
  };
}
