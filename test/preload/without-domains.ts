import asyncHooks from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";

// tap asks Node to report the creation and end of every promise and resource, in
// order to name the subtest an uncaught error belongs to, which takes 5 to 10 % of the CPU of tests with many calls. Without it such
// an error, or a rejection that nothing handles, ends the process with its stack, and the file has failed.

const unused: asyncHooks.AsyncHook = { enable: () => unused, disable: () => unused };
asyncHooks.createHook = () => unused;
syncBuiltinESMExports();
