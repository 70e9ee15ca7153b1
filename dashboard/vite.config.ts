import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

const directory = resolve(import.meta.dirname, "../dist/dashboard");

/**
 * Also writes each text file of the build compressed. Browsers accept brotli only over TLS and from localhost, gzip everywhere.
 */
function compressed(): Plugin {
  return {
    name: "compressed",
    // Reads from disk: before this hook, Vite has not yet written the lists of loaded files into the chunks.
    async writeBundle(_options, bundle) {
      const names = Object.keys(bundle).filter((name) => /\.(js|css|svg|html)$/.test(name));
      await Promise.all(
        names.map(async (name) => {
          const path = resolve(directory, name);
          const source = await readFile(path);
          await writeFile(`${path}.br`, brotliCompressSync(source));
          await writeFile(`${path}.gz`, gzipSync(source, { level: 9 }));
        }),
      );
    },
  };
}

// biome-ignore lint/style/noDefaultExport: Vite reads its configuration from the default export
export default defineConfig({
  root: import.meta.dirname,
  base: "/",
  build: {
    outDir: directory,
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: { format: "es" },
  plugins: [compressed()],
});
