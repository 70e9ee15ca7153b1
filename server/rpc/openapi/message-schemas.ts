import type { DescEnum, DescField, DescMessage, JsonObject } from "@bufbuild/protobuf";
import { isSecret } from "../call/secret-fields.ts";
import type { CommentOf } from "./contract-comments.ts";
import { scalarSchema } from "./scalar-schema.ts";
import { wellKnownSchema } from "./well-known-schema.ts";

/**
 * How a message is written: as an answer, as the request of a read, which ignores unknown fields, or of a change, which refuses
 * them. Field names are those of JSON (`sizeGb`), as in Connect, or those of the contract (`size_gb`), as in REST.
 */
export interface Form {
  readonly role: "answer" | "read" | "change";
  readonly names: "json" | "contract";
}

/** A message of the contract in one of its forms. */
export interface MessageForm {
  readonly message: DescMessage;
  readonly form: Form;
}

/** JSON Schemas (2020-12) of messages and enums, under `#/components/schemas`. */
export interface MessageSchemas {
  /** @throws TypeError for a message that no root reaches in that form */
  refTo(message: DescMessage, form: Form): JsonObject;
  /** By name, in alphabetical order. */
  readonly components: JsonObject;
}

/**
 * Creates the schemas of messages and everything they contain, by proto JSON (protobuf.dev/programming-guides/json). A message
 * with one form is named by its full name. If it has several, the form is appended to the name, except for answers with JSON
 * names.
 */
export function createMessageSchemas(roots: readonly MessageForm[], commentOf: CommentOf): MessageSchemas {
  const found = new Map<string, Map<string, MessageForm>>();
  const enums = new Map<string, DescEnum>();

  function visit({ message, form }: MessageForm): void {
    const forms = found.get(message.typeName) ?? new Map<string, MessageForm>();
    if (wellKnownSchema(message) !== undefined || forms.has(suffixOf(form))) {
      return;
    }
    found.set(message.typeName, forms.set(suffixOf(form), { message, form }));
    for (const field of message.fields) {
      if (field.enum !== undefined) {
        enums.set(field.enum.typeName, field.enum);
      }
      if (field.message !== undefined) {
        visit({ message: field.message, form });
      }
    }
  }

  for (const root of roots) {
    visit(root);
  }

  function nameOf({ typeName }: DescMessage, form: Form): string {
    const forms = found.get(typeName);
    if (forms?.has(suffixOf(form)) !== true) {
      throw new TypeError(`${typeName} is not among the schemas${suffixOf(form)}`);
    }
    return forms.size === 1 ? typeName : `${typeName}${suffixOf(form)}`;
  }

  const refTo = (message: DescMessage, form: Form) =>
    wellKnownSchema(message) ?? refToSchema(nameOf(message, form));

  function valueSchema({ message, enum: values, scalar }: DescField, form: Form): JsonObject {
    if (message !== undefined) {
      return refTo(message, form);
    }
    if (values !== undefined) {
      const ref = refToSchema(values.typeName);
      return form.role === "answer" ? ref : { anyOf: [ref, { type: "integer", format: "int32" }] };
    }
    if (scalar === undefined) {
      throw new TypeError("a field is a message, an enum or a scalar");
    }
    return scalarSchema(scalar, form.role === "answer");
  }

  function fieldSchema(field: DescField, form: Form): JsonObject {
    const value = valueSchema(field, form);
    const schema =
      field.fieldKind === "list"
        ? { type: "array", items: value }
        : field.fieldKind === "map"
          ? { type: "object", additionalProperties: value }
          : value;
    const secret = isSecret(field) ? { "x-hostplane-secret": true } : {};
    return { ...schema, ...described(commentOf(field)), ...secret };
  }

  function messageSchema({ message, form }: MessageForm): JsonObject {
    const properties = message.fields.map((field) => [nameIn(field, form), fieldSchema(field, form)]);
    return {
      type: "object",
      ...described(commentOf(message)),
      properties: Object.fromEntries(properties),
      ...exclusions(message, form),
      ...(form.role === "change" ? { additionalProperties: false } : {}),
    };
  }

  const schemas = [
    ...[...enums.values()].map((one) => [one.typeName, enumSchema(one, commentOf)] as const),
    ...[...found.values()].flatMap((forms) =>
      [...forms.values()].map((one) => [nameOf(one.message, one.form), messageSchema(one)] as const),
    ),
  ];
  return { refTo, components: Object.fromEntries(schemas.toSorted(([a], [b]) => (a < b ? -1 : 1))) };
}

/** Returns the field's name in the form. */
export function nameIn({ name, jsonName }: DescField, { names }: Pick<Form, "names">): string {
  return names === "contract" ? name : jsonName;
}

/** Returns a reference to a schema below `#/components/schemas`. */
export function refToSchema(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** Returns the keyword `description`, unless the comment is empty. */
export function described(comment: string): JsonObject {
  return comment === "" ? {} : { description: comment };
}

function suffixOf({ role, names }: Form): string {
  const ofRole = { answer: "", read: "_Read", change: "_Change" }[role];
  return `${ofRole}${names === "contract" ? "_Rest" : ""}`;
}

/** Returns the rule that at most one field of a oneof may be present. */
function exclusions(message: DescMessage, form: Form): JsonObject {
  const pairs = message.oneofs.flatMap(({ fields }) =>
    fields.flatMap((one, index) =>
      fields.slice(index + 1).map((other) => ({ required: [nameIn(one, form), nameIn(other, form)] })),
    ),
  );
  return pairs.length === 0 ? {} : { not: { anyOf: pairs } };
}

function enumSchema(desc: DescEnum, commentOf: CommentOf): JsonObject {
  const values = desc.values.map((value) => `- \`${value.name}\` (${value.number}): ${commentOf(value)}`);
  return {
    type: "string",
    description: [commentOf(desc), values.join("\n")].filter((part) => part !== "").join("\n\n"),
    enum: desc.values.map(({ name }) => name),
  };
}
