import { setFlagsFromString } from "node:v8";

// Read before all else, for its effect. Node 24 may crash (SIGSEGV, or `Check failed: it->second.Size() > offset`) while baseline
// code is compiled: github.com/nodejs/node/issues/62393. It was seen once in some hundred processes, and of gateways in an emulated
// machine. What optimizing compilers make of hot code is not touched.
setFlagsFromString("--no-sparkplug");
