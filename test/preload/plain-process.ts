import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

// Loaded with --require, so that it runs before tap's own imports. It replaces tap's module mocks and coverage, which no test
// uses: they read each module again, parse its source map, and spread to every Node process that a test starts, at 0.1 s of CPU
// time per process.

const unused = /\/@tapjs\/(?:mock|processinfo)\/dist\/esm\/import\.mjs$/;
const testFile = pathToFileURL(process.argv[1] ?? "").href;

const hooks = registerHooks({
  resolve: (specifier, context, nextResolve) => {
    if (unused.test(specifier)) {
      return { url: "data:text/javascript,", format: "module", shortCircuit: true };
    }
    if (specifier === testFile) {
      hooks.deregister();
    }
    return nextResolve(specifier, context);
  },
});

process.setSourceMapsEnabled(false);
// tap uses it to pass the same imports to child processes.
delete process.env.NODE_OPTIONS;
