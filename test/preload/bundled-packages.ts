import { registerHooks } from "node:module";
import { cacheDirectory, readPackageBundle } from "./package-bundle.ts";

// Imports packages from the bundle that bundle-packages.ts built, in the test's process and in the threads of its stores.

const { files = {} } = readPackageBundle() ?? {};

registerHooks({
  resolve: (specifier, context, nextResolve) => {
    const file = files[specifier];
    return file === undefined || context.conditions.includes("require")
      ? nextResolve(specifier, context)
      : { url: new URL(file, cacheDirectory).href, format: "module", shortCircuit: true };
  },
});
