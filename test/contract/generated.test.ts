import { execFile } from "node:child_process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { type DescField, getOption, hasOption } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { test } from "tap";
import { csi_secret } from "../../gen/csi/v1/csi_pb.ts";
import {
  file_hostplane_options_v1_secrets,
  secret_fields,
} from "../../gen/hostplane/options/v1/secrets_pb.ts";
import { isSecret } from "../../server/rpc/call/secret-fields.ts";
import { generatedFiles, generatedPaths, root } from "./ledger.ts";

const run = promisify(execFile);

test("plain Node can import every generated file", async (t) => {
  const imports = generatedPaths().map((path) => `import ${JSON.stringify(pathToFileURL(path).href)};`);
  const { stderr } = await run(process.execPath, ["--input-type=module", "--eval", imports.join("\n")], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: "--disable-warning=ExperimentalWarning" },
  });
  t.equal(stderr, "");
});

async function generatedFields(): Promise<DescField[]> {
  const types = (await generatedFiles()).flatMap((file) => [...nestedTypes(file)]);
  return types.flatMap((type) => (type.kind === "message" ? type.fields : []));
}

test("every listed secret field exists", async (t) => {
  const names = new Set((await generatedFields()).map(({ parent, name }) => `${parent.typeName}.${name}`));
  const listed = getOption(file_hostplane_options_v1_secrets, secret_fields);
  t.equal(listed.length, 53);
  t.same(
    listed.filter((name) => !names.has(name)),
    [],
  );
});

test("every field that CSI marks as a secret is listed", async (t) => {
  const marked = (await generatedFields()).filter((field) => hasOption(field, csi_secret));
  t.equal(marked.length, 14);
  t.same(marked.filter((field) => !isSecret(field)).map(String), []);
});

/** Field options of google/protobuf/descriptor.proto in version 3.21, which Debian 12 ships. */
const knownOptions = ["ctype", "packed", "jstype", "lazy", "unverifiedLazy", "deprecated", "weak"];

test("protoc 3.21 can read the contract: no field has a newer option", async (t) => {
  const fields = await generatedFields();
  t.ok(fields.length > 430);
  const newer = fields.filter(({ proto: { options } }) =>
    Object.entries(options ?? {}).some(
      ([name, value]) =>
        !name.startsWith("$") &&
        !knownOptions.includes(name) &&
        !(Array.isArray(value) && value.length === 0),
    ),
  );
  t.same(newer.map(String), []);
});
