import { hasReason } from "../../host/infra-error.ts";
import type { DomainGpu } from "../adapter.ts";
import { libvirtReasons } from "../reasons.ts";
import type { LibvirtClient } from "../rpc/client.ts";
import { isUnsupported } from "../rpc/errors.ts";
import { parseGpu } from "./node-device.ts";

/**
 * Caches the GPUs of the host. A server has hundreds of PCI devices, so each is read once, and again when it changes.
 */
export interface GpuReader {
  /** Reads what was touched since the previous load, and all devices the first time. @throws as StateReader does */
  load(signal: AbortSignal): Promise<void>;
  /** Touches a device by libvirt's name for it; returns false if it is not a PCI device. */
  touch(deviceName: string): boolean;
  touchAll(): void;
  /** Returns the GPUs, sorted by address. */
  all(): readonly DomainGpu[];
}

/** VIR_CONNECT_LIST_NODE_DEVICES_CAP_PCI_DEV. */
const pciDevices = 2;

/** Starts with nothing known: the first `load` lists all devices. */
export function createGpuReader(client: LibvirtClient): GpuReader {
  /** GPUs by libvirt's name of the device. */
  const gpus = new Map<string, DomainGpu>();
  let touched = { everything: true, names: new Set<string>() };

  async function load(signal: AbortSignal): Promise<void> {
    const work = touched;
    touched = { everything: false, names: new Set() };
    try {
      const names = work.everything ? await listAll(signal) : work.names;
      if (work.everything) {
        gpus.clear();
      }
      await Promise.all([...names].map((name) => readDevice(name, signal)));
    } catch (error) {
      touched = {
        everything: touched.everything || work.everything,
        names: new Set([...work.names, ...touched.names]),
      };
      throw error;
    }
  }

  async function listAll(signal: AbortSignal): Promise<readonly string[]> {
    try {
      const args = { needResults: true, flags: pciDevices };
      const { devices } = await client.call("connectListAllNodeDevices", args, { signal });
      return devices.map(({ name }) => name);
    } catch (error) {
      if (isUnsupported(error)) {
        return [];
      }
      throw error;
    }
  }

  async function readDevice(name: string, signal: AbortSignal): Promise<void> {
    let gpu: DomainGpu | undefined;
    try {
      gpu = parseGpu((await client.call("nodeDeviceGetXmlDesc", { name, flags: 0 }, { signal })).xml);
    } catch (error) {
      if (!hasReason(error, libvirtReasons.NODE_DEVICE_NOT_FOUND)) {
        throw error;
      }
    }
    if (gpu === undefined) {
      gpus.delete(name);
    } else {
      gpus.set(name, gpu);
    }
  }

  return {
    load,
    touch(deviceName) {
      if (!deviceName.startsWith("pci_")) {
        return false;
      }
      touched.names.add(deviceName);
      return true;
    },
    touchAll() {
      touched.everything = true;
    },
    all: () => [...gpus.values()].sort((a, b) => (a.pciAddress < b.pciAddress ? -1 : 1)),
  };
}
