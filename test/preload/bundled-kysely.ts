import { registerHooks } from "node:module";

// Runs in the thread of a store: imports Kysely as the single file that store-threads.ts built. The query is Kysely's version.

const version = new URL(import.meta.url).search.slice(1);
const url = new URL(`../../node_modules/.cache/kysely-${version}.mjs`, import.meta.url).href;

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === "kysely" ? { url, shortCircuit: true } : nextResolve(specifier, context),
});
