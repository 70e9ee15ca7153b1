import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { test } from "tap";
import { file_lvmd as current } from "../../gen/lvmd/current/lvmd_pb.ts";
import { file_lvmd as served } from "../../gen/lvmd/served/lvmd_pb.ts";
import { file_proto_lvmd as backups } from "../../gen/proto/lvmd_pb.ts";
import { factsOfFile, readLedger } from "../contract/ledger.ts";

const servedMessages = new Map(
  [...nestedTypes(served)].flatMap((type) => (type.kind === "message" ? [[type.typeName, type]] : [])) as [
    string,
    DescMessage,
  ][],
);

function numberAndType({ name, number, proto }: DescField): string {
  return `${name} ${number} ${proto.label} ${proto.type} ${proto.typeName}`;
}

for (const [name, published] of [
  ["the branch with backups", backups],
  ["today's lvmd", current],
] as const) {
  test(`the served messages have every field of ${name} at its number`, async (t) => {
    let count = 0;
    for (const type of nestedTypes(published)) {
      if (type.kind !== "message") {
        continue;
      }
      const fields = new Set(servedMessages.get(type.typeName)?.fields.map(numberAndType));
      const missing = type.fields.filter((field) => !fields.has(numberAndType(field)));
      // Number 5 has a different meaning in each protocol.
      const clash = type.typeName === "proto.CreateLVRequest" ? [5] : [];
      t.same(
        missing.map(({ number }) => number),
        clash,
        type.typeName,
      );
      count += type.fields.length;
    }
    t.ok(count >= 40, `${count} fields`);
  });
}

test("both meanings of number 5 in CreateLVRequest are served under their own names", async (t) => {
  const request = servedMessages.get("proto.CreateLVRequest");
  t.equal(request?.fields.find(({ number }) => number === 5)?.name, "source_or_option_class");
  for (const [file, name] of [
    [backups, "data_source"],
    [current, "lvcreate_option_class"],
  ] as const) {
    const published = file.messages.find(({ typeName }) => typeName === "proto.CreateLVRequest");
    const own = request?.fields.find((field) => field.name === name);
    t.equal(published?.fields.find(({ number }) => number === 5)?.name, name);
    t.equal(own?.proto.typeName, published?.fields.find(({ number }) => number === 5)?.proto.typeName);
  }
});

test("the served services have the RPCs of both protocols", async (t) => {
  const rpcs = (file: typeof served) =>
    file.services.flatMap(({ typeName, methods }) => methods.map(({ name }) => `${typeName}/${name}`));
  t.same(new Set(rpcs(served)), new Set([...rpcs(backups), ...rpcs(current)]));
});

test("today's protocol is exactly what was published", async (t) => {
  const facts = new Set(factsOfFile(current));
  t.same(facts, new Set(readLedger("lvmd-current.txt")));
});
