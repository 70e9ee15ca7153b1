import { utimesSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type Plugin } from "rolldown";

// Builds the server with its dependencies into dist/server. A start then reads some dozens of files instead of two thousand.
// Dynamically imported modules stay separate files.

const startedAt = new Date();
/** Except node:module, from which the lines that rolldown adds at the top create their `require`. */
const importOfNode = /^import (?:\{([^}]*)\}|(?:\* as )?([\w$]+)) from "node:(?!module")([\w/]+)";$/gm;

/**
 * Loads Node modules with `require`. `import` reads each of a module's exports: for node:http that loads all of fetch and
 * WebSocket, which costs 12 MB and 35 ms at startup.
 */
const withoutFacades: Plugin = {
  name: "without-facades",
  renderChunk: (code) =>
    code.replaceAll(
      importOfNode,
      (_all, names: string | undefined, whole: string | undefined, of: string) => {
        const taken = names === undefined ? whole : `{ ${names.replaceAll(" as ", ": ")} }`;
        return `const ${taken} = process.getBuiltinModule("node:${of}");`;
      },
    ),
};

/**
 * Writes ASCII only: Node keeps one byte per character of such a file. A single other character doubles that for the whole file.
 */
const asAscii: Plugin = {
  name: "as-ascii",
  generateBundle: (_options, bundle) => {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type === "chunk") {
        chunk.code = chunk.code.replaceAll(
          /[^\0-\x7F]/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
        );
      }
    }
  },
};

/** Sources that were changed during the build must count as newer than the build; bin/hostplane.js compares the dates. */
const dateOfStart: Plugin = {
  name: "date-of-start",
  writeBundle: ({ dir = "" }) => utimesSync(join(dir, "main.js"), startedAt, startedAt),
};

// biome-ignore lint/style/noDefaultExport: rolldown reads its configuration from the default export
export default defineConfig({
  platform: "node",
  // Besides main.js, the entries are those of threads and other processes, under the names that the source uses.
  input: {
    main: "server/main.ts",
    "sqlite-worker": "server/store/sqlite-worker.ts",
    transactions: "server/store/transactions.ts",
    "migrations/migrations": "server/store/migrations/migrations.ts",
    worker: "adapters/ceph/worker.ts",
  },
  // koffi has a native binary for each platform; pg-native is not installed.
  external: ["koffi", "pg-native"],
  plugins: [withoutFacades, asAscii, dateOfStart],
  output: {
    dir: "dist/server",
    cleanDir: true,
    entryFileNames: "[name].js",
    // The same names in every build, so that Node's compile cache replaces the entry of a file.
    chunkFileNames: "[name].js",
    // One file for the small tables of reasons, which otherwise are a file each.
    codeSplitting: { groups: [{ name: "reasons", test: /\/(call-|define-)?reasons\.ts$/ }] },
    // Node keeps the source text of what runs. Names stay readable in stack traces.
    minify: { mangle: false, compress: false, codegen: true },
    comments: { legal: true },
  },
});
