import { create } from "@bufbuild/protobuf";
import { type KeyValue, KeyValueSchema } from "../../../../gen/v1alpha/api_pb.ts";

/** Converts a map to the key-value pairs of v1alpha.PublicAPI, in the same order. */
export function keyValues(words: ReadonlyMap<string, string>): KeyValue[] {
  return [...words].map(([Key, value]) => create(KeyValueSchema, { Key, value }));
}

/** Reports whether the map contains all pairs. */
export function hasAll(words: ReadonlyMap<string, string>, pairs: readonly KeyValue[]): boolean {
  return pairs.every(({ Key, value }) => words.get(Key) === value);
}
