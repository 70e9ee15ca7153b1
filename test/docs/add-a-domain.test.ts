import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { test } from "tap";
import { parse } from "yaml";
import { readPage, root } from "./markdown.ts";

const page = readPage("docs/how-to/add-a-domain.md");

/** The files of the page: a path, and the block below it. */
const files = [...page.matchAll(/^`([\w/.-]+)`:\n\n```\w+\n([\s\S]*?)^```$/gm)].map(
  ([, path = "", text = ""]) => ({ path, text }),
);

/** Returns the block of the page that contains the text. */
function blockWith(text: string): string {
  const blocks = [...page.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);
  return blocks.find((block) => block.includes(text)) ?? "";
}

const buf = join(root, "tools/node_modules/.bin/buf");
const skip =
  existsSync(buf) || process.env.HOSTPLANE_LAB === "required"
    ? false
    : "the tools are not installed (tools/run true)";

test("the example of add-a-domain.md passes its own tests in a copy of the project", {
  skip,
  timeout: 300_000,
}, async (t) => {
  const copy = await mkdtemp(join(tmpdir(), "hostplane-domain-"));
  t.teardown(() => rm(copy, { recursive: true }));
  const folders = [
    "adapters",
    "client",
    "dashboard",
    "gen",
    "proto",
    "server",
    "test/adapters/host",
    "test/server",
  ];
  for (const name of [...folders, "test/house.test.ts", "package.json", "buf.yaml"]) {
    await cp(join(root, name), join(copy, name), { recursive: true });
  }
  for (const name of ["node_modules", "tools"]) {
    await symlink(join(root, name), join(copy, name));
  }

  for (const { path, text } of files) {
    await mkdir(dirname(join(copy, path)), { recursive: true });
    await writeFile(join(copy, path), text);
  }
  /** Inserts the text before a mark in a file of the project, as the page says. */
  async function insert(path: string, mark: string, text: string): Promise<void> {
    const before = await readFile(join(copy, path), "utf8");
    t.ok(before.includes(mark), `${path} has ${mark}`);
    await writeFile(join(copy, path), before.replace(mark, `${text}${mark}`));
  }
  const [field = "", message = ""] = blockWith("LoopEvent loop = ").split("\n\n");
  await insert("proto/hostplane/v1/event.proto", "  }\n}\n\n// A logical volume", `${field}\n`);
  await insert("proto/hostplane/v1/event.proto", "// A logical volume", `${message}\n`);
  await insert("test/house.test.ts", "  client: [", blockWith('"adapters/losetup": ['));
  await insert(
    "server/domains/domains.ts",
    "/** Domains with",
    `${/^import .*loopsDomain.*\n/m.exec(page)?.[0]}`,
  );
  await insert("server/domains/domains.ts", "] as const", "  loopsDomain,\n");

  const env = { ...process.env, TAP_TIMEOUT: "280" };
  const run = (...argv: string[]) =>
    promisify(execFile)(process.execPath, argv, { cwd: copy, env }).catch(({ stdout, stderr }) => {
      throw new Error(stdout + stderr);
    });
  // As buf.gen.yaml, which would also remove what other templates generate.
  const { clean: _clean, ...template } = parse(await readFile(join(root, "buf.gen.yaml"), "utf8"));
  const only = ["loop", "event"].flatMap((name) => ["--path", `proto/hostplane/v1/${name}.proto`]);
  await run(buf, "generate", "--template", JSON.stringify(template), ...only);
  const tests = files.map(({ path }) => path).filter((path) => /^test\/(?!lab).*\.test\.ts$/.test(path));
  for (const path of ["test/house.test.ts", ...tests]) {
    await t.resolves(run(path), path);
  }
});
