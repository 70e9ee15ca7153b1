import type { KeyStore } from "./key-changes-under-test.ts";

/** A store whose gateway is killed at one of its transactions. */
export interface MortalKeyStore extends Pick<KeyStore, "isShared" | "run" | "subscribe"> {
  /** Resolves with the name of the transaction. */
  readonly died: Promise<string>;
}

/**
 * @param dieAt the number of the transaction, counted from 1
 * @param isCommitted whether that transaction is still committed; its result never arrives
 */
export function mortalStore(store: KeyStore, dieAt: number, isCommitted: boolean): MortalKeyStore {
  const { promise: died, resolve } = Promise.withResolvers<string>();
  let count = 0;
  return {
    died,
    isShared: store.isShared,
    async run(name, args) {
      count += 1;
      if (count < dieAt) {
        const result = await store.run(name, args);
        return count < dieAt ? result : new Promise<never>(() => {});
      }
      if (count === dieAt) {
        if (isCommitted) {
          await store.run(name, args);
        }
        resolve(name);
      }
      return new Promise<never>(() => {});
    },
    subscribe: (topic, onChange) => store.subscribe(topic, () => (count < dieAt ? onChange() : undefined)),
  };
}
