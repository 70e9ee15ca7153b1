import type { Adapter, AdapterPayload } from "oidc-provider";

/** The storage of a provider. */
export interface ProviderStorage {
  readonly adapter: (model: string) => Adapter;
  /** Returns how many of a model, e.g. `RefreshToken`, are stored and not used up. */
  countOf(model: string): number;
}

/** Creates the storage of a provider under test, in memory. It outlasts a change of the provider's keys. */
export function createProviderStorage(): ProviderStorage {
  const payloads = new Map<string, AdapterPayload>();

  function findBy(model: string, isIt: (payload: AdapterPayload) => boolean): AdapterPayload | undefined {
    return [...payloads].find(([key, payload]) => key.startsWith(`${model} `) && isIt(payload))?.[1];
  }

  const countOf = (model: string) =>
    [...payloads].filter(([key, { consumed }]) => key.startsWith(`${model} `) && consumed === undefined)
      .length;

  function adapter(model: string): Adapter {
    const keyOf = (id: string) => `${model} ${id}`;
    return {
      upsert: async (id, payload) => void payloads.set(keyOf(id), payload),
      find: async (id) => payloads.get(keyOf(id)),
      findByUserCode: async (userCode) => findBy(model, (payload) => payload.userCode === userCode),
      findByUid: async (uid) => findBy(model, (payload) => payload.uid === uid),
      async consume(id) {
        const payload = payloads.get(keyOf(id));
        if (payload !== undefined) {
          payloads.set(keyOf(id), { ...payload, consumed: Math.floor(Date.now() / 1000) });
        }
      },
      destroy: async (id) => void payloads.delete(keyOf(id)),
      async revokeByGrantId(grantId) {
        for (const [key, payload] of payloads) {
          if (payload.grantId === grantId) {
            payloads.delete(key);
          }
        }
      },
    };
  }

  return { adapter, countOf };
}
