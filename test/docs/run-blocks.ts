import { existsSync } from "node:fs";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { Test } from "tap";
import { start } from "../server/cli/run-hostplane.ts";
import { type Block, blocksOf, readPage, root } from "./markdown.ts";

/** Texts of a page, each with its replacement in the test. */
export type Substitutions = Readonly<Record<string, string>>;

/** What programs import from the installed package, and the same in the clone. */
const packageImports: readonly (readonly [RegExp, string])[] = [
  [/"hostplane\/client"/g, '"./client/client.ts"'],
  [/"hostplane\/(gen\/[\w/]+)"/g, '"./$1.ts"'],
];

/**
 * Runs the marked blocks of a page one after the other, as a reader would. Compares their output with the following block marked
 * `prints`, in which `…` matches any text; without one they must exit with 0. Skips a block whose tool is not installed, unless
 * HOSTPLANE_LAB=required.
 * @param variables environment variables that a reader has set before, such as TOKEN
 */
export async function testBlocks(
  t: Test,
  page: string,
  substitutions: Substitutions,
  variables: Readonly<Record<string, string>>,
): Promise<void> {
  const blocks = blocksOf(readPage(page));
  const runnable = blocks.filter(({ mark }) => mark.startsWith("run"));
  t.ok(runnable.length > 0, `${page} has blocks to run`);
  const directory = await mkdtemp(join(tmpdir(), "hostplane-docs-"));
  t.teardown(() => rm(directory, { recursive: true }));
  for (const name of ["node_modules", "client", "gen", "proto"]) {
    await symlink(join(root, name), join(directory, name));
  }

  for (const block of runnable) {
    const tool = /needs (\w+)/.exec(block.mark)?.[1] ?? toolOf[block.language] ?? "sh";
    const missing = (await isInstalled(tool)) ? undefined : `${tool} is not installed`;
    if (missing !== undefined && process.env.HOSTPLANE_LAB === "required" && ["curl", "buf"].includes(tool)) {
      t.fail(missing);
    }
    await t.test(`${page}:${block.line}`, { skip: missing ?? false }, async (t) => {
      const next = blocks[blocks.indexOf(block) + 1];
      const { code, printed } = await run(block, directory, substitutions, variables);
      if (next?.mark === "prints") {
        t.match(printed, patternOf(next.text), "prints what the page says");
      } else {
        t.equal(code, 0, printed);
      }
    });
  }
}

const toolOf: Readonly<Record<string, string>> = { sh: "curl", ts: "node", python: "grpcio" };

async function isInstalled(tool: string): Promise<boolean> {
  if (tool === "grpcio") {
    if (!(await isInstalled("python3"))) {
      return false;
    }
    const modules = "import grpc, grpc_tools, grpc_status";
    return (await start(["python3", "-c", modules]).ended).code === 0;
  }
  const directories = [join(root, "tools/node_modules/.bin"), ...(process.env.PATH ?? "").split(delimiter)];
  return directories.some((directory) => existsSync(join(directory, tool)));
}

async function run(
  block: Block,
  directory: string,
  substitutions: Substitutions,
  variables: Readonly<Record<string, string>>,
) {
  const entries = Object.entries(substitutions);
  const text = entries.reduce((each, [from, to]) => each.replaceAll(from, to), block.text);
  const { code, stdout, stderr } = await start(await commandOf({ ...block, text }, directory), {
    // Commands run in the clone; a program runs next to the generated code that it imports.
    cwd: block.language === "sh" ? root : directory,
    // Hides npm's warnings, which a reader does not see or sees differently.
    env: { npm_config_loglevel: "error", ...variables },
  }).ended;
  return { code, printed: entries.reduce((each, [from, to]) => each.replaceAll(to, from), stdout + stderr) };
}

async function commandOf({ language, text, line }: Block, directory: string): Promise<string[]> {
  if (language === "sh") {
    return ["sh", "-c", text];
  }
  const file = join(directory, `block-${line}.${language === "ts" ? "ts" : "py"}`);
  const program = packageImports.reduce((each, [from, to]) => each.replaceAll(from, to), text);
  await writeFile(file, program);
  return language === "ts" ? [process.execPath, file] : ["python3", file];
}

function patternOf(expected: string): RegExp {
  const parts = expected.trim().split("…");
  const escaped = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^\\s*${escaped.join("[\\s\\S]*?")}\\s*$`);
}
