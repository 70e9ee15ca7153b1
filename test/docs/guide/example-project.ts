import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Test } from "tap";
import { parse } from "yaml";
import { readPage, root } from "../markdown.ts";

/** buf, if the tools are installed. */
export const bufProgram = join(root, "tools/node_modules/.bin/buf");

const page = readPage("docs/how-to/add-a-domain.md");

/** The files of the page: a path, and the block below it. */
const files = [...page.matchAll(/^`([\w/.-]+)`:\n\n```\w+\n([\s\S]*?)^```$/gm)].map(
  ([, path = "", text = ""]) => ({ path, text }),
);

/** A copy of the project with the domain of docs/how-to/add-a-domain.md. */
export interface ExampleProject {
  readonly directory: string;
  /** The tests that the page adds, without those of the lab. */
  readonly tests: readonly string[];
  /** Runs Node with these arguments in the copy. @throws Error with the output if it fails */
  run(...argv: readonly string[]): Promise<void>;
}

/** Creates the copy, generates the code of its contract, and removes it with the test. */
export async function createExampleProject(t: Test): Promise<ExampleProject> {
  const directory = await mkdtemp(join(tmpdir(), "hp-domain-"));
  t.teardown(() => rm(directory, { recursive: true }));
  const folders = ["adapters", "bin", "client", "dashboard", "docs/reference", "gen", "proto", "server"];
  const parts = [...folders, "test/adapters/host", "test/server", "test/house.test.ts"];
  for (const name of [...parts, "package.json", "tsconfig.json", "buf.yaml"]) {
    await cp(join(root, name), join(directory, name), { recursive: true });
  }
  for (const name of ["node_modules", "dist", "tools"]) {
    await symlink(join(root, name), join(directory, name));
  }
  for (const { path, text } of files) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text);
  }
  await insertLines(t, directory);

  const env = { ...process.env, TAP_TIMEOUT: "280" };
  async function run(...argv: readonly string[]): Promise<void> {
    await promisify(execFile)(process.execPath, argv, { cwd: directory, env }).catch(({ stdout, stderr }) => {
      throw new Error(stdout + stderr);
    });
  }
  // As buf.gen.yaml, which would also remove what other templates generate.
  const { clean: _clean, ...template } = parse(await readFile(join(root, "buf.gen.yaml"), "utf8"));
  const only = ["loop", "event"].flatMap((name) => ["--path", `proto/hostplane/v1/${name}.proto`]);
  await run(bufProgram, "generate", "--template", JSON.stringify(template), ...only);
  const contract = ["--as-file-descriptor-set", "--exclude-imports", "-o", "gen/contract.binpb"];
  await run(bufProgram, "build", ...contract);
  const tests = files.map(({ path }) => path).filter((path) => /^test\/(?!lab).*\.test\.ts$/.test(path));
  return { directory, tests, run };
}

/** Adds what the page adds to existing files: a field of events, the lines of the domain, and the imports it may have. */
async function insertLines(t: Test, directory: string): Promise<void> {
  async function insert(path: string, mark: string, text: string): Promise<void> {
    const before = await readFile(join(directory, path), "utf8");
    t.ok(before.includes(mark), `${path} has ${mark}`);
    await writeFile(join(directory, path), before.replace(mark, `${text}${mark}`));
  }
  const [field = "", message = ""] = blockWith("LoopEvent loop = ").split("\n\n");
  await insert(
    "proto/hostplane/v1/event.proto",
    "  }\n  // Time at which the gateway of `fleet_host`",
    `${field}\n`,
  );
  await insert("proto/hostplane/v1/event.proto", "// A logical volume", `${message}\n`);
  await insert("test/house.test.ts", "  client: [", blockWith('"adapters/losetup": ['));
  const imported = /^import .*loopsDomain.*\n/m.exec(page)?.[0] ?? "";
  await insert("server/domains/domains.ts", "/** Domains with", imported);
  await insert("server/domains/domains.ts", "] as const", "  loopsDomain,\n");
  await insert("server/domains/commands.ts", "  user: {", blockWith("loopNoun,"));
}

/** Returns the block of the page that contains the text. */
function blockWith(text: string): string {
  const blocks = [...page.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);
  return blocks.find((block) => block.includes(text)) ?? "";
}
