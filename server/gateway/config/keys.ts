import { z } from "zod";
import { configSchema } from "./schema.ts";

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Type of a key's value: text, a number, a boolean, a list of one of these, a list of groups, or a group of keys. */
export type KeyKind = "text" | "number" | "boolean" | "list" | "groups" | "group";

/** One key of the configuration, as used by documentation, environment and flags. */
export interface ConfigKey {
  /** Names from the top, with `[]` after a list: `listen[].tls.cert`. */
  readonly path: string;
  readonly kind: KeyKind;
  /** Type and limits in words: `integer, 1 to 1024`. */
  readonly type: string;
  readonly required: boolean;
  /** Value if the key is absent, as written in the file. */
  readonly default: unknown;
  /** The environment variable that sets it; undefined inside lists and for groups. */
  readonly variable: string | undefined;
  /** The value may hold a secret, so no message shows it. */
  readonly isSecret: boolean;
  /** The flag of `serve` that sets it; undefined inside lists, for groups and for secrets. */
  readonly flag: string | undefined;
  readonly description: string;
}

/** Keys with their own flag; all others are set with `--set`. */
const ownFlags: Readonly<Record<string, string>> = {
  listen: "--listen ADDRESS",
  data: "--data DIR",
  "log.level": "--log-level LEVEL",
};

/** Returns the JSON Schema of the configuration (draft 2020-12), for editors and other programs. */
export function configJsonSchema(): JsonSchema {
  return z.toJSONSchema(configSchema, { io: "input" });
}

let keys: readonly ConfigKey[] | undefined;

/** Returns every key in the order of the schema, a group before its keys. Computed on first use, since that takes 20 ms. */
export function configKeys(): readonly ConfigKey[] {
  keys ??= keysOf(configJsonSchema(), "");
  return keys;
}

function keysOf(group: JsonSchema, prefix: string): ConfigKey[] {
  return Object.entries(group.properties ?? {}).flatMap(([name, schema]) => {
    if (typeof schema === "boolean") {
      return [];
    }
    const path = prefix + name;
    const kind = kindOf(schema);
    const isSettable = kind !== "group" && !path.includes("[]");
    const isSecret = schema.writeOnly === true;
    const key: ConfigKey = {
      path,
      kind,
      type: typeOf(schema, kind),
      required: group.required?.includes(name) ?? false,
      default: kind === "group" ? undefined : schema.default,
      variable: isSettable ? variableOf(path) : undefined,
      isSecret,
      // Every user of the host can read the arguments of a process.
      flag: isSettable && !isSecret ? (ownFlags[path] ?? `--set ${path}=VALUE`) : undefined,
      description: schema.description ?? "",
    };
    if (kind === "group") {
      return [key, ...keysOf(schema, `${path}.`)];
    }
    if (kind === "groups") {
      return [key, ...keysOf(itemsOf(schema), `${path}[].`)];
    }
    return [key];
  });
}

/** Returns HOSTPLANE_LIMITS_MAX_MESSAGE_BYTES for `limits.maxMessageBytes`; `spareGiB` would become SPARE_GIB. */
function variableOf(path: string): string {
  const words = path.replaceAll(".", "_").replaceAll(/([a-z])([A-Z])/g, "$1_$2");
  return `HOSTPLANE_${words.toUpperCase()}`;
}

function kindOf(schema: JsonSchema): KeyKind {
  if (schema.type === "object") {
    return "group";
  }
  if (schema.type === "array") {
    return itemsOf(schema).type === "object" ? "groups" : "list";
  }
  if (schema.type === "boolean") {
    return "boolean";
  }
  return schema.type === "string" ? "text" : "number";
}

function typeOf(schema: JsonSchema, kind: KeyKind): string {
  if (schema.enum) {
    if (schema.enum.length === 1) {
      return `only ${schema.enum[0]}`;
    }
    return `one of ${schema.enum.join(", ")}`;
  }
  if (kind === "number") {
    return `${schema.type}, ${schema.minimum} to ${schema.maximum}`;
  }
  if (kind === "list") {
    return "list of text";
  }
  if (kind === "groups") {
    return "list of groups";
  }
  return kind;
}

/** Returns the schema of a list's entries. If an entry may be text or a group, returns the group. */
function itemsOf(schema: JsonSchema): JsonSchema {
  const items =
    schema.items !== undefined && typeof schema.items === "object" && !Array.isArray(schema.items)
      ? schema.items
      : {};
  return items.anyOf?.find((alternative) => alternative.type === "object") ?? items;
}
