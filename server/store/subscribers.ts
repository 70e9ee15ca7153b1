import type { Topic } from "./transaction.ts";

/** Callbacks by topic. */
export interface Subscribers {
  add(topic: Topic, onChange: () => void): () => void;
  call(topic: Topic): void;
  /** Calls every subscriber, because notifications may have been missed. */
  callAll(): void;
}

/** Starts without callbacks. */
export function createSubscribers(): Subscribers {
  const byTopic = new Map<Topic, Set<() => void>>();

  function call(topic: Topic): void {
    for (const onChange of [...(byTopic.get(topic) ?? [])]) {
      onChange();
    }
  }

  return {
    add(topic, onChange) {
      // A new function each time, so that one callback can be subscribed twice and each subscription ended separately.
      const subscriber = () => onChange();
      const subscribers = byTopic.get(topic) ?? new Set();
      byTopic.set(topic, subscribers.add(subscriber));
      return () => void subscribers.delete(subscriber);
    },
    call,
    callAll() {
      for (const topic of byTopic.keys()) {
        call(topic);
      }
    },
  };
}
