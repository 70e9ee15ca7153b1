// Runs steps in parallel, as a gateway does: `node run-lvm-steps.ts <options of createLvm> <steps>`, both as JSON; sizes are
// strings.
import type { LvmStep } from "../../../adapters/lvm/adapter.ts";
import type { LvmDeviceStep } from "../../../adapters/lvm/device-adapter.ts";
import { createLvm } from "../../../adapters/lvm/lvm.ts";

const [options = "{}", stepsJson = "[]"] = process.argv.slice(2);
const steps = JSON.parse(stepsJson, (name, value) => (name.endsWith("Bytes") ? BigInt(value) : value));
const lvm = createLvm({ ...JSON.parse(options), maxRunning: 32 });
await lvm.read();
await Promise.all(
  steps.map((step: LvmStep | LvmDeviceStep) =>
    "path" in step || "paths" in step ? lvm.runOnDevices(step) : lvm.run(step),
  ),
);
