import {
  create,
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonWriteOptions,
  type Message,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";

// Other calls run between the slices, so that a long list does not hold them up (docs/reference/gateway.md, Limits).

/** A list with more messages than this is encoded in slices. */
const longItems = 64;
/** Number of list items encoded in one step. */
const stepItems = 16;

type ListField = DescField & { readonly fieldKind: "list"; readonly listKind: "message" };
type Init = Readonly<Record<string, unknown>>;

/**
 * Returns a function that reports whether a message, which may still be a plain initializer, has a list that is encoded in slices;
 * undefined if no message of the type has one.
 */
export function createLongListCheck(schema: DescMessage): ((output: object) => boolean) | undefined {
  const lists = schema.fields.filter(({ fieldKind }) => fieldKind === "list");
  return lists.length === 0
    ? undefined
    : (output) => lists.some((field) => itemsOf(field, output) !== undefined);
}

/** Returns the same text as `toJsonString`. */
export function* jsonInSteps(
  schema: DescMessage,
  output: object,
  options: Partial<JsonWriteOptions>,
): Generator<void, string> {
  const lists = longListsOf(schema, output);
  // The first item reserves the list's position among the members.
  const first = Object.fromEntries(
    [...lists].map(([{ localName }, items]) => [localName, items.slice(0, 1)]),
  );
  const json = toJson(schema, create(schema, { ...output, ...first } as Init), options) as JsonObject;
  for (const [{ name, jsonName, message }, items] of lists) {
    const texts = json[options.useProtoFieldName === true ? name : jsonName];
    for (let at = 1; at < items.length && Array.isArray(texts); at += stepItems) {
      for (const item of items.slice(at, at + stepItems)) {
        texts.push(toJson(message, create(message, item), options));
      }
      yield;
    }
  }
  return JSON.stringify(json);
}

/** Returns the same bytes as `toBinary`: fields in order of their numbers; a field may be encoded in pieces. */
export function* binaryInSteps(schema: DescMessage, output: object): Generator<void, Uint8Array> {
  const lists = longListsOf(schema, output);
  const none = Object.fromEntries([...lists.keys()].map(({ localName }) => [localName, []]));
  const others = reflect(schema, create(schema, { ...output, ...none } as Init));
  const parts: Uint8Array[] = [];
  let between = reflect(schema);
  for (const field of schema.fields.toSorted((a, b) => a.number - b.number)) {
    const items = lists.get(field as ListField);
    if (items === undefined) {
      if (others.isSet(field)) {
        between.set(field, others.get(field));
      }
      continue;
    }
    parts.push(toBinary(schema, between.message));
    between = reflect(schema);
    for (let at = 0; at < items.length; at += stepItems) {
      const part = { [field.localName]: items.slice(at, at + stepItems) };
      parts.push(toBinary(schema, create(schema, part as Init)));
      yield;
    }
  }
  parts.push(toBinary(schema, between.message));
  return Buffer.concat(parts);
}

function longListsOf(schema: DescMessage, output: object): Map<ListField, Message[]> {
  const lists = new Map<ListField, Message[]>();
  for (const field of schema.fields) {
    const items = itemsOf(field, output);
    if (items !== undefined) {
      lists.set(field as ListField, items);
    }
  }
  return lists;
}

function itemsOf(field: DescField, output: object): Message[] | undefined {
  const value = (output as Init)[field.localName];
  const isLong =
    field.fieldKind === "list" &&
    field.listKind === "message" &&
    Array.isArray(value) &&
    value.length > longItems;
  return isLong ? value : undefined;
}
