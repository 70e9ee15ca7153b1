import { registerHooks } from "node:module";

// The server under test of the Connect conformance suite: the gateway's listener, routing and protocols with
// the suite's service behind them (serve.ts).
//
// The suite takes an error for wrong that has a detail more than the test case names, or one of a type it does
// not know (google.rpc.ErrorInfo), and every error of the gateway has one. So, in this server alone, the one
// module that gives errors their wire form is replaced by one that leaves the details out.

const errors = new URL("../../server/rpc/errors.ts", import.meta.url).href;
const bareErrors = new URL("bare-errors.ts", import.meta.url).href;

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    return resolved.url === errors && context.parentURL !== bareErrors
      ? { ...resolved, url: bareErrors }
      : resolved;
  },
});

const { serveSuite } = await import("./serve.ts");
await serveSuite();
