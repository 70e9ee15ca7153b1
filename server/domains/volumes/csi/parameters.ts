import { invalidField } from "../../../../adapters/host/infra-error.ts";
import { type DeviceClass, findDeviceClass } from "../device-class.ts";

/** Keys that external-provisioner and external-snapshotter add for other drivers. */
const orchestratorStart = "csi.storage.k8s.io/";

/**
 * Returns the device class that the parameters name; undefined if they name none.
 * @throws InfraError INVALID_FIELD for an unknown class, and for a parameter that the driver does not have
 */
export function deviceClassFrom(
  parameters: Readonly<Record<string, string>>,
  deviceClasses: readonly DeviceClass[],
): DeviceClass | undefined {
  assertParameters(parameters, ["deviceClass"]);
  const { deviceClass: name } = parameters;
  if (name === undefined) {
    return undefined;
  }
  const found = deviceClasses.find((each) => each.name === name);
  if (found === undefined) {
    const known = deviceClasses.map((each) => each.name).join(", ");
    throw invalidField("parameters[deviceClass]", `device class ${name} not found (available: ${known})`);
  }
  return found;
}

/** Returns the device class that the parameters name, else the default class. @throws InfraError as `deviceClassFrom` */
export function deviceClassOrDefault(
  parameters: Readonly<Record<string, string>>,
  deviceClasses: readonly DeviceClass[],
): DeviceClass {
  return deviceClassFrom(parameters, deviceClasses) ?? findDeviceClass(deviceClasses, "");
}

/** @throws InfraError INVALID_FIELD for a parameter that is not among the known ones */
export function assertParameters(
  parameters: Readonly<Record<string, string>>,
  known: readonly string[],
  field = "parameters",
): void {
  const unknown = Object.keys(parameters).find(
    (key) => !known.includes(key) && !key.startsWith(orchestratorStart),
  );
  if (unknown !== undefined) {
    const words = known.length === 0 ? "there are none" : `available: ${known.join(", ")}`;
    throw invalidField(`${field}[${unknown}]`, `is not a parameter of the driver (${words})`);
  }
}
