import {
  create,
  type DescField,
  type DescMessage,
  equals,
  type Message,
  ScalarType,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import fc from "fast-check";
import { test } from "tap";
import { CreateUserRequestSchema } from "../../../../gen/hostplane/v1/user_pb.ts";
import { CreateLVRequestSchema } from "../../../../gen/proto/lvmd_pb.ts";
import { LoginRequestSchema, LogoutRequestSchema } from "../../../../gen/services/auth/auth_pb.ts";
import { hasSecretFields, isSecret, withoutSecrets } from "../../../../server/rpc/call/secret-fields.ts";
import { readContractServices } from "../../harness/contract-services.ts";
import { filledMessages } from "../../harness/filled-message.ts";

const types = new Map<string, DescMessage>(
  (await readContractServices())
    .flatMap(({ methods }) => methods.flatMap(({ input, output }) => [input, output]))
    .map((type) => [type.typeName, type]),
);

const marker = "s3cr3t-marker";

test("a message has secrets if a field at any depth is marked, whatever its name", async (t) => {
  t.ok(hasSecretFields(LoginRequestSchema));
  t.ok(hasSecretFields(CreateLVRequestSchema), "below data_source");
  t.notOk(hasSecretFields(LogoutRequestSchema));
});

test("for every message of the contract, all secret fields are removed and the rest is kept", async (t) => {
  for (const type of types.values()) {
    const open = filledMessages(type, undefined);
    for (const [index, { message, secretFields }] of filledMessages(type, marker).entries()) {
      t.equal(holdsMarker(type, message), secretFields.length > 0, `${type.typeName} is filled`);
      const stripped = withoutSecrets(type, message);
      t.notOk(holdsMarker(type, stripped), `${type.typeName}: ${secretFields.join(", ")}`);
      t.ok(equals(type, stripped, open[index]?.message ?? message), `${type.typeName}: open fields are kept`);
    }
    const secretFields = filledMessages(type, marker).flatMap((filled) => filled.secretFields);
    t.equal(hasSecretFields(type), secretFields.length > 0, type.typeName);
  }
});

test("the message itself is not changed", async (t) => {
  const request = create(LoginRequestSchema, { username: "alice", password: marker });
  t.equal(withoutSecrets(LoginRequestSchema, request).password, "");
  t.equal(request.password, marker);
});

test("unknown fields are removed, whatever they contain", async (t) => {
  const unknown = [{ no: 99, wireType: 2, data: Buffer.from(`\x0d${marker}`) }];
  const request = create(CreateLVRequestSchema, { name: "a", dataSource: {} });
  request.$unknown = unknown;
  const { dataSource } = request;
  if (dataSource !== undefined) {
    dataSource.$unknown = unknown;
  }
  t.ok(Buffer.from(toBinary(CreateLVRequestSchema, request)).includes(marker));
  t.notOk(
    Buffer.from(toBinary(CreateLVRequestSchema, withoutSecrets(CreateLVRequestSchema, request))).includes(
      marker,
    ),
  );
});

test("for any message no secret is left, and stripping is idempotent", async () => {
  const secretTypes = [...types.values()].filter(hasSecretFields);
  const messages = fc
    .constantFrom(...secretTypes)
    .chain((type) => messageOf(type, 3).map((message) => ({ type, message })));
  fc.assert(
    fc.property(messages, ({ type, message }) => {
      const once = withoutSecrets(type, message);
      return !isAnySecretSet(type, once) && equals(type, withoutSecrets(type, once), once);
    }),
  );
});

test("a message without secrets is not changed", async () => {
  const user = fc.record({ name: fc.string(), services: fc.array(fc.string()) });
  fc.assert(
    fc.property(user, (init) => {
      const request = create(CreateUserRequestSchema, init);
      return equals(CreateUserRequestSchema, withoutSecrets(CreateUserRequestSchema, request), request);
    }),
  );
});

function holdsMarker(type: DescMessage, message: Message): boolean {
  const text = toJsonString(type, message);
  return text.includes(marker) || text.includes(Buffer.from(marker).toString("base64"));
}

function isAnySecretSet(type: DescMessage, message: Message): boolean {
  const reflected = reflect(type, message);
  return type.fields.some((field) => {
    if (!reflected.isSet(field)) {
      return false;
    }
    if (isSecret(field)) {
      return true;
    }
    const below = field.message;
    if (below === undefined) {
      return false;
    }
    const value = reflected.get(field);
    const values = field.fieldKind === "list" ? [...(value as Iterable<unknown>)] : [value];
    return values.some((each) => isAnySecretSet(below, (each as ReflectMessage).message));
  });
}

/** Generates messages of a type: each text or bytes field is set or not, down to a depth. A map has one entry. */
function messageOf(type: DescMessage, depth: number): fc.Arbitrary<Message> {
  const fields = type.fields.flatMap((field) => {
    const value = arbitraryOf(field, depth);
    return value === undefined ? [] : [fc.option(value).map((set) => ({ field, set }))];
  });
  return fc.tuple(...fields).map((values) => {
    const reflected = reflect(type, create(type));
    for (const { field, set } of values) {
      if (set !== null && field.fieldKind === "list") {
        const list = reflected.get(field);
        for (const item of set as readonly unknown[]) {
          list.add(item);
        }
      } else if (set !== null && field.fieldKind === "map") {
        reflected.get(field).set("a", set);
      } else if (set !== null) {
        reflected.set(field, set);
      }
    }
    return reflected.message;
  });
}

function arbitraryOf(field: DescField, depth: number): fc.Arbitrary<unknown> | undefined {
  const single = singleOf(field, depth);
  return field.fieldKind === "list" && single !== undefined ? fc.array(single, { maxLength: 3 }) : single;
}

function singleOf(
  { message, scalar, fieldKind }: DescField,
  depth: number,
): fc.Arbitrary<unknown> | undefined {
  if (message !== undefined) {
    const isLast = depth === 0 || fieldKind === "map";
    return isLast ? undefined : messageOf(message, depth - 1).map((below) => reflect(message, below));
  }
  if (scalar === ScalarType.STRING) {
    return fc.string();
  }
  return scalar === ScalarType.BYTES ? fc.uint8Array().map((bytes) => new Uint8Array(bytes)) : undefined;
}
