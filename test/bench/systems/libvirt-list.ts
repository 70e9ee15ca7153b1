import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createLibvirtClient } from "../../../adapters/libvirt/rpc/client.ts";
import { parseLibvirtUri } from "../../../adapters/libvirt/rpc/uri.ts";
import { libvirtSkipReason, startLibvirtDaemon } from "../../lab/libvirt/libvirt.ts";
import type { Bench, Side } from "../bench.ts";

const domains = 20;
/** Number of calls in a round; a single call is too short for the clock. */
const calls = 50;

/** Lists all VMs of a real libvirtd: through its socket, and with a process of virsh. */
export function createLibvirtList(): Bench {
  return {
    name: "libvirt-list",
    what: `listing ${domains} libvirt VMs over its socket`,
    baseline: "`virsh list --all`",
    unit: "ms",
    maxRatio: 0.1,
    rounds: 30,
    coldRounds: 5,
    isLab: true,
    skipReason: libvirtSkipReason,
    async start() {
      const daemon = await startLibvirtDaemon();
      const client = createLibvirtClient(parseLibvirtUri(daemon.uri));
      const stop = async () => {
        await client.close();
        await daemon.destroy();
      };
      try {
        await client.ready();
        for (let index = 0; index < domains; index += 1) {
          const xml = `<domain type="qemu"><name>vm${index}</name><memory unit="MiB">32</memory>
            <os><type arch="x86_64">hvm</type></os></domain>`;
          await client.call("domainDefineXmlFlags", { xml, flags: 0 });
        }
      } catch (error) {
        await stop();
        throw error;
      }
      const list = async () => {
        const { count } = await client.call("connectListAllDomains", { needResults: true, flags: 0 });
        if (count !== domains) {
          throw new Error(`expected ${domains} VMs, found ${count}`);
        }
      };
      return {
        baseline: sideOf(() => promisify(execFile)("virsh", ["-c", daemon.uri, "list", "--all"]), 1),
        ours: sideOf(list, calls),
        stop,
      };
    },
  };
}

/** A side that makes `count` calls one after the other, and measures milliseconds per call. */
function sideOf(call: () => Promise<unknown>, count: number): Side {
  return {
    async measure() {
      const beganAtMs = performance.now();
      for (let left = count; left > 0; left -= 1) {
        await call();
      }
      return (performance.now() - beganAtMs) / count;
    },
  };
}
