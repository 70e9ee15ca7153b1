import asyncHooks from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";

// tap asks Node to report the creation and end of every promise and resource, in order to find the subtest of an uncaught error.
// That costs 5 to 10 % of the CPU time of tests with many calls. Without it such an error, or an unhandled rejection, ends the
// process with its stack, and the file fails.

const unused: asyncHooks.AsyncHook = { enable: () => unused, disable: () => unused };
asyncHooks.createHook = () => unused;
syncBuiltinESMExports();
