import { create } from "@bufbuild/protobuf";
import { type KeyValue, KeyValueSchema } from "../../../gen/v1alpha/api_pb.ts";

/** Words by their keys as v1alpha.PublicAPI tells them, in the same order. */
export function keyValues(words: ReadonlyMap<string, string>): KeyValue[] {
  return [...words].map(([Key, value]) => create(KeyValueSchema, { Key, value }));
}

/** Whether there is each of the keys with its value. */
export function hasAll(words: ReadonlyMap<string, string>, wanted: readonly KeyValue[]): boolean {
  return wanted.every(({ Key, value }) => words.get(Key) === value);
}
