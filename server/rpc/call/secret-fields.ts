import { clone, type DescField, type DescMessage, getOption, type Message } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import {
  file_hostplane_options_v1_secrets,
  secret_fields,
} from "../../../gen/hostplane/options/v1/secrets_pb.ts";

const secretNames: ReadonlySet<string> = new Set(getOption(file_hostplane_options_v1_secrets, secret_fields));

/**
 * Reports whether a message of this type can contain a secret, at any depth. Secrets are the fields listed in
 * proto/hostplane/options/v1/secrets.proto, and those with `debug_redact` in other contracts.
 */
export function hasSecretFields(type: DescMessage): boolean {
  let hasSecrets = known.get(type);
  if (hasSecrets === undefined) {
    hasSecrets = visit(type, new Set());
    known.set(type, hasSecrets);
  }
  return hasSecrets;
}

const known = new WeakMap<DescMessage, boolean>();

function visit(type: DescMessage, seen: Set<string>): boolean {
  if (seen.has(type.typeName)) {
    return false;
  }
  seen.add(type.typeName);
  return type.fields.some(
    (field) => isSecret(field) || (field.message !== undefined && visit(field.message, seen)),
  );
}

/** Returns a copy of the message without its secrets and without unknown fields. */
export function withoutSecrets<M extends Message>(type: DescMessage, message: M): M {
  const copy = clone(type, message) as M;
  strip(reflect(type, copy));
  return copy;
}

function strip(message: ReflectMessage): void {
  message.setUnknown([]);
  for (const field of message.fields) {
    if (!message.isSet(field)) {
      continue;
    }
    if (isSecret(field)) {
      message.clear(field);
    } else if (field.fieldKind === "message") {
      strip(message.get(field));
    } else if (field.fieldKind === "list" && field.listKind === "message") {
      for (const item of message.get(field)) {
        strip(item as ReflectMessage);
      }
    } else if (field.fieldKind === "map" && field.mapKind === "message") {
      for (const item of message.get(field).values()) {
        strip(item as ReflectMessage);
      }
    }
  }
}

/** Reports whether the field is a secret. */
export function isSecret({ parent, name, proto }: DescField): boolean {
  return secretNames.has(`${parent.typeName}.${name}`) || proto.options?.debugRedact === true;
}
