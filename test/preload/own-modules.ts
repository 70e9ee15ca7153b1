import { registerHooks } from "node:module";

// The project's imports name the file, so nothing has to be searched: without Node's look for package.json and symbolic links, a
// test that starts a gateway takes 0.15 s less CPU time of 1.1 s.

registerHooks({
  resolve: (specifier, context, nextResolve) => {
    const { parentURL } = context;
    if (
      !/^\.\.?\/.*\.ts$/.test(specifier) ||
      parentURL === undefined ||
      parentURL.includes("/node_modules/")
    ) {
      return nextResolve(specifier, context);
    }
    return { url: new URL(specifier, parentURL).href, format: "module-typescript", shortCircuit: true };
  },
});
