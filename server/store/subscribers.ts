import type { Topic } from "./transaction.ts";

/** Who wants to be called about which topic. */
export interface Subscribers {
  add(topic: Topic, onChange: () => void): () => void;
  call(topic: Topic): void;
  /** For what may have been missed. */
  callAll(): void;
}

export function createSubscribers(): Subscribers {
  const byTopic = new Map<Topic, Set<() => void>>();

  function call(topic: Topic): void {
    for (const onChange of [...(byTopic.get(topic) ?? [])]) {
      onChange();
    }
  }

  return {
    add(topic, onChange) {
      // A function of its own, so that one that subscribes twice can end each for itself.
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
