import type { FastifyBaseLogger } from "fastify";
import type { LvmAdapter } from "../adapters/lvm/adapter.ts";
import { createLvm } from "../adapters/lvm/lvm.ts";
import { createLvmSandbox } from "../adapters/lvm/sandbox.ts";
import type { Config } from "./config/schema.ts";
import type { DeviceClass } from "./domains/volumes/device-class.ts";

/** The systems behind the domains; undefined where a domain is off. */
export interface Systems {
  readonly volumes:
    | {
        readonly lvm: LvmAdapter;
        readonly deviceClasses: readonly DeviceClass[];
        readonly protect: readonly string[];
      }
    | undefined;
  close(): Promise<void>;
}

/** The device class of the sandbox; its name says what it is wherever it is shown. */
const sandboxClass: DeviceClass = {
  name: "sandbox-ssd",
  volumeGroup: "sandbox-vg",
  default: true,
  spareGiB: 1,
};

/** Systems that touch nothing of the host. */
export function createSandboxSystems(): Systems {
  const lvm = createLvmSandbox();
  return {
    volumes: { lvm, deviceClasses: [sandboxClass], protect: [] },
    close: () => lvm.close(),
  };
}

/** The systems the configuration names. */
export function createRealSystems(config: Config, logger: FastifyBaseLogger): Systems {
  const { volumes } = config;
  if (volumes === undefined) {
    return { volumes: undefined, close: async () => {} };
  }
  const lvm = createLvm({
    ...volumes.lvm,
    maxRunning: config.limits.tools,
    maxWaiting: config.limits.toolsWaiting,
    onToolEnd: (event) => logger.debug({ tool: event }, "tool"),
  });
  return {
    volumes: { lvm, deviceClasses: volumes.deviceClasses, protect: volumes.protect },
    close: () => lvm.close(),
  };
}
