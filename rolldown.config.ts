import { utimesSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type Plugin } from "rolldown";

// Builds the server into dist/server, with what it needs of its dependencies: a start reads some dozens of files instead of two
// thousand. Everything that the source imports when it is needed stays a file of its own.

const startedAt = new Date();
/** Not node:module, by which the lines above the others make their `require`. */
const importOfNode = /^import (?:\{([^}]*)\}|(?:\* as )?([\w$]+)) from "node:(?!module")([\w/]+)";$/gm;

/**
 * Takes modules of Node as CommonJS does. `import` reads each of their exports: one of node:http loads the whole of fetch and
 * WebSocket, which takes 12 MB, and 35 ms of a start.
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

/** Writes text as ASCII, of which Node keeps a byte for each character; one other character in a file makes that two of all. */
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

/** A source that was written while this runs is newer than what is built; bin/hostplane.js compares. */
const dateOfStart: Plugin = {
  name: "date-of-start",
  writeBundle: ({ dir = "" }) => utimesSync(join(dir, "main.js"), startedAt, startedAt),
};

// biome-ignore lint/style/noDefaultExport: rolldown reads its configuration from there
export default defineConfig({
  platform: "node",
  // Beside main.js are, by the names that the source has for them, the files of threads and other processes.
  input: {
    main: "server/main.ts",
    "sqlite-worker": "server/store/sqlite-worker.ts",
    transactions: "server/store/transactions.ts",
    "migrations/migrations": "server/store/migrations/migrations.ts",
    worker: "adapters/ceph/worker.ts",
  },
  // One is a program for each platform, the other is not installed.
  external: ["koffi", "pg-native"],
  plugins: [withoutFacades, asAscii, dateOfStart],
  output: {
    dir: "dist/server",
    cleanDir: true,
    entryFileNames: "[name].js",
    // By the same names again: what Node keeps of a file is replaced with it.
    chunkFileNames: "[name].js",
    // Node keeps the text of what runs. Names stay, for who reads a stack.
    minify: { mangle: false, compress: false, codegen: true },
    comments: { legal: true },
  },
});
