import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { type DescField, getOption } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { test } from "tap";
import {
  file_hostplane_options_v1_secrets,
  secret_fields,
} from "../../gen/hostplane/options/v1/secrets_pb.ts";
import { generatedFiles, generatedPaths, root } from "./ledger.ts";

const run = promisify(execFile);

/** What `npm run gen` makes beside the code. */
const contract = "contract.binpb";

/** Runs buf in the repository with a cache of its own, so that nothing is taken from or left in the user's. */
function buf(cacheFolder: string, ...args: string[]) {
  return run(join(root, "node_modules/.bin/buf"), args, {
    cwd: root,
    env: { ...process.env, BUF_CACHE_DIR: cacheFolder },
  });
}

function contentsOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(paths.map((path) => [relative(folder, path), readFileSync(path, "utf8")]));
}

test("the contract passes its lint: every message, field, value and RPC has a comment", async (t) => {
  await t.resolves(buf(t.testdir(), "lint"));
});

test("the contract is formatted", async (t) => {
  await t.resolves(buf(t.testdir(), "format", "--diff", "--exit-code"));
});

for (const [folder, template] of [
  ["gen", "buf.gen.yaml"],
  ["test/conformance/gen", "test/conformance/buf.gen.yaml"],
] as const) {
  test(`${folder} is what ${template} generates`, async (t) => {
    const fresh = t.testdir({ cache: {}, out: {} });
    await buf(join(fresh, "cache"), "generate", "--template", template, "--output", join(fresh, "out"));
    const generated = contentsOf(join(fresh, "out", folder));
    t.not(Object.keys(generated).length, 0);
    const { [contract]: _, ...committed } = contentsOf(join(root, folder));
    const paths = new Set([...Object.keys(generated), ...Object.keys(committed)]);
    t.strictSame(
      [...paths].filter((path) => committed[path] !== generated[path]),
      [],
    );
  });
}

test(`gen/${contract} has the contract with its comments`, async (t) => {
  const fresh = join(t.testdir(), contract);
  await buf(t.testdir({ cache: {} }), "build", "--as-file-descriptor-set", "--exclude-imports", "-o", fresh);
  t.ok(readFileSync(fresh).equals(readFileSync(join(root, "gen", contract))));
});

test("plain Node imports every generated file", async (t) => {
  const imports = generatedPaths().map((path) => `import ${JSON.stringify(pathToFileURL(path).href)};`);
  const { stderr } = await run(
    process.execPath,
    ["--input-type=module", "--eval", imports.join("\n")],
    // Without the loader that the test runner puts into NODE_OPTIONS.
    { cwd: root, env: { ...process.env, NODE_OPTIONS: "--disable-warning=ExperimentalWarning" } },
  );
  t.equal(stderr, "");
});

async function generatedFields(): Promise<DescField[]> {
  const types = (await generatedFiles()).flatMap((file) => [...nestedTypes(file)]);
  return types.flatMap((type) => (type.kind === "message" ? type.fields : []));
}

test("every field that is listed as a secret exists", async (t) => {
  const names = new Set((await generatedFields()).map(({ parent, name }) => `${parent.typeName}.${name}`));
  const listed = getOption(file_hostplane_options_v1_secrets, secret_fields);
  t.equal(listed.length, 28);
  t.same(
    listed.filter((name) => !names.has(name)),
    [],
  );
});

/** Options of a field that google/protobuf/descriptor.proto has in 3.21, which Debian 12 ships. */
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
