import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "rolldown";
import { build } from "rolldown";
import { bundleIndex, cacheDirectory, installedAtMs, readPackageBundle } from "./package-bundle.ts";

// `npm test` runs this first. Most of the start of a small test is the import of packages: of tap 290 files, of the gateway's
// packages 550 more. From this bundle a test file takes 0.05 s less CPU time, and one that starts a gateway 0.2 s of 0.9 s.
// Without the bundle, or after an installation of other packages, tests import the packages themselves.

const modules = [
  "tap",
  "@bufbuild/protobuf",
  "@connectrpc/connect",
  "@connectrpc/connect-node",
  "@connectrpc/connect-web",
  "@opentelemetry/api",
  "@opentelemetry/core",
  "commander",
  "fast-check",
  "jose",
  "kysely",
  "zod",
];
/** Packages whose exports Node finds only when it runs them. */
const commonJs = [
  "@fastify/cors",
  "@fastify/static",
  "@prometheus-io/client",
  "@xmldom/xmldom",
  "fastify",
  "pino",
  "undici",
  "yaml",
];

/** Returns all specifiers that a package exports, except patterns. */
function specifiersOf(name: string): string[] {
  const file = new URL(`../${name}/package.json`, cacheDirectory);
  const { exports } = JSON.parse(readFileSync(file, "utf8")) as { readonly exports?: object };
  const paths = Object.keys(exports ?? {}).filter((path) => /^\.(?!.*(\*|package\.json))/.test(path));
  return paths.length === 0 ? [name] : paths.map((path) => `${name}${path.slice(1)}`);
}

/** Gives the entry of a CommonJS package the exports that it has in Node. */
const namedExports: Plugin = {
  name: "named-exports",
  resolveId: (id) => (id.startsWith("entry:") ? `\0${id}` : undefined),
  async load(id) {
    if (!id.startsWith("\0entry:")) {
      return undefined;
    }
    const specifier = id.slice("\0entry:".length);
    const isNamed = (name: string) => /^[\w$]+$/.test(name) && name !== "default";
    const names = Object.keys(await import(specifier)).filter(isNamed);
    const values = names.map((name) => `const _${name} = whole.${name};`).join("\n");
    const list = names.map((name) => `_${name} as ${name}`).join(", ");
    return `import whole from "${specifier}";\n${values}\nexport { whole as default, ${list} };`;
  },
};

/** Returns the name of a specifier's file. tap leaves functions of such a directory out of the stacks that it prints. */
function nameOf(specifier: string): string {
  return specifier === "tap" ? "node_modules/@tapjs/tap" : specifier.replaceAll(/[@/]/g, "_");
}

async function bundlePackages(): Promise<void> {
  const entries = [
    ...modules.flatMap(specifiersOf).map((specifier) => [specifier, specifier] as const),
    ...commonJs.map((specifier) => [specifier, `entry:${specifier}`] as const),
  ];
  const atMs = installedAtMs();
  const directory = `packages-${atMs}`;
  rmSync(new URL(directory, cacheDirectory), { recursive: true, force: true });
  await build({
    input: Object.fromEntries(entries.map(([specifier, input]) => [nameOf(specifier), input])),
    platform: "node",
    // The files that Node would load.
    resolve: { conditionNames: ["node", "import"], mainFields: ["main"] },
    plugins: [namedExports],
    output: { dir: fileURLToPath(new URL(directory, cacheDirectory)), entryFileNames: "[name].mjs" },
    logLevel: "warn",
  });
  const files = entries.map(([specifier]) => [specifier, `${directory}/${nameOf(specifier)}.mjs`]);
  const unfinished = new URL(`packages.${process.pid}.json`, cacheDirectory);
  writeFileSync(unfinished, JSON.stringify({ installedAtMs: atMs, files: Object.fromEntries(files) }));
  renameSync(unfinished, bundleIndex);
}

if (readPackageBundle() === undefined) {
  mkdirSync(cacheDirectory, { recursive: true });
  await bundlePackages();
}
