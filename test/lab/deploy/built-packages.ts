import { cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { root, start } from "../../server/cli/run-hostplane.ts";

/** Environment of the build and of npm: this Node first, as in an npm script. */
export const buildEnv: NodeJS.ProcessEnv = {
  npm_config_loglevel: "error",
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
};

/** The packages of a release, built in a copy of the clone because other tests may be running the files in dist/. */
export interface BuiltPackages {
  /** Holds everything below. */
  readonly directory: string;
  /** Copy of the clone, with its build. */
  readonly source: string;
  /** Returns the path of the package whose name matches. @throws Error unless there is exactly one */
  file(pattern: RegExp): string;
  /** Builds the packages again from the same build. Returns their directory. */
  again(...args: readonly string[]): Promise<string>;
  remove(): Promise<void>;
}

/** Runs `npm run package` without the image. @throws Error with its output if it fails */
export async function buildPackages(): Promise<BuiltPackages> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-packages-"));
  const source = join(directory, "source");
  await mkdir(source);
  const listed = await run(root, "git", "ls-files", "--cached", "--others", "--exclude-standard");
  for (const name of listed.split("\n")) {
    if (name !== "" && !/^(\.ci|test)\//.test(name)) {
      await cp(join(root, name), join(source, name));
    }
  }
  await symlink(join(root, "node_modules"), join(source, "node_modules"));
  const out = join(directory, "out");
  await run(source, "npm", "run", "package", "--", "--image", "none", "--out", out);
  const files = await readdir(out);
  let builds = 0;
  return {
    directory,
    source,
    file(pattern) {
      const [found, ...others] = files.filter((name) => pattern.test(name));
      if (found === undefined || others.length > 0) {
        throw new Error(`expected one package that matches ${pattern}, there are ${files.join(", ")}`);
      }
      return join(out, found);
    },
    async again(...args) {
      builds += 1;
      const other = join(directory, `out-${builds}`);
      const program = join(source, "packaging/build-packages.ts");
      await run(source, process.execPath, program, "--image", "none", "--out", other, ...args);
      return other;
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** The date of the packages; the copy has no repository. */
const sourceDate = { SOURCE_DATE_EPOCH: "1767225600" };

/** Runs a program and returns its stdout. @throws Error with its output if it fails */
export async function run(cwd: string, ...argv: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await start(argv, { cwd, env: { ...buildEnv, ...sourceDate } }).ended;
  if (code !== 0) {
    throw new Error(`${argv.join(" ")} ended with ${code}: ${(stdout + stderr).slice(-2000)}`);
  }
  return stdout;
}
