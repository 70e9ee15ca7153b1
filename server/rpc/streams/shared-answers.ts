import { create, type DescMessage, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { createSharedMessage, type Encoders, type SharedMessage } from "./shared-message.ts";

/** Messages of one type that any number of calls receive unchanged. */
export interface SharedAnswers<Desc extends DescMessage> {
  /**
   * Returns the message for `source`. It is the same object for as long as the source lives, and is encoded once however many
   * calls it answers. Neither the message nor its source may be modified.
   * @param source what the message describes, such as a snapshot's value; a change must create another object
   * @param key identifies one of the messages for the source, by everything in the request that matters; only the first few per
   * source are kept
   */
  of(source: object, key: string, make: () => MessageInitShape<Desc>): MessageShape<Desc>;
}

/** Callers choose the keys, and must not be able to fill the memory with them. */
const keysMax = 16;

const sharedMessages = new WeakMap<object, SharedMessage>();

/** Returns the encoded form of a message created by `SharedAnswers`; undefined for any other, which belongs to one call. */
export function sharedMessageOf(message: object): SharedMessage | undefined {
  return sharedMessages.get(message);
}

/**
 * Starts without messages; each is dropped with its source.
 * @param encoders that reuse encoded parts of earlier messages (`createListEncoders`)
 */
export function createSharedAnswers<Desc extends DescMessage>(
  schema: Desc,
  encoders?: Encoders<Desc>,
): SharedAnswers<Desc> {
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
        sharedMessages.set(message, createSharedMessage(schema, message, encoders));
      }
      return message;
    },
  };
}
