import asyncHooks from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";

// Each test process imports this first (.taprc). tap asks Node to report the creation and end of every promise and resource, in
// order to name the subtest an uncaught error belongs to, which takes 5 to 10 % of the CPU of tests with many calls. Without it an
// uncaught error, or a rejection that nothing handles, ends the process with its stack, and the file has failed.

const { createHook } = asyncHooks;
const unused: asyncHooks.AsyncHook = { enable: () => unused, disable: () => unused };
asyncHooks.createHook = () => unused;
syncBuiltinESMExports();

// Keeps the hook that it gets for its first domain as long as one exists.
const { Domain } = await import("async-hook-domain");
new Domain(() => {});

asyncHooks.createHook = createHook;
syncBuiltinESMExports();
