import { create, type DescMessage, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { createSharedMessage, type SharedMessage } from "./shared-message.ts";

/** Messages of one type that any number of calls get alike. */
export interface SharedAnswers<Desc extends DescMessage> {
  /**
   * The message that tells of `source`: the same one for as long as the source lives, which is encoded once however many
   * calls it answers. Nothing may change it, or what it was made of.
   * @param source what it tells of, such as a snapshot's value, which is another object once anything has changed
   * @param key which of the messages that can be made of the source, by all of the request that matters; of one source only
   *   the first few are kept
   */
  of(source: object, key: string, make: () => MessageInitShape<Desc>): MessageShape<Desc>;
}

/** A caller chooses the keys, and is not to fill the memory with them. */
const keysMax = 16;

const sharedMessages = new WeakMap<object, SharedMessage>();

/** The encoded form of a message that `SharedAnswers` has made; undefined for any other, which is one call's own. */
export function sharedMessageOf(message: object): SharedMessage | undefined {
  return sharedMessages.get(message);
}

export function createSharedAnswers<Desc extends DescMessage>(schema: Desc): SharedAnswers<Desc> {
  const bySource = new WeakMap<object, Map<string, MessageShape<Desc>>>();
  return {
    of(source, key, make) {
      let byKey = bySource.get(source);
      if (byKey === undefined) {
        byKey = new Map();
        bySource.set(source, byKey);
      }
      const kept = byKey.get(key);
      if (kept !== undefined) {
        return kept;
      }
      const message = create(schema, make());
      if (byKey.size < keysMax) {
        byKey.set(key, message);
        sharedMessages.set(message, createSharedMessage(schema, message));
      }
      return message;
    },
  };
}
