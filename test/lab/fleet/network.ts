import { execFile, execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { promisify } from "node:util";
import type { Test } from "tap";

const execute = promisify(execFile);

/** A network namespace of the test, connected to all others by a bridge. */
export interface NetworkMember {
  /** IPv4 address. */
  readonly address: string;
  /** Before a command: runs it in the namespace. */
  readonly launcher: readonly string[];
  /** Drops all packets from and to the member, without anybody noticing. */
  isolate(): Promise<void>;
  /** Takes the member's link down, which it notices. */
  unplug(): Promise<void>;
  /** Ends both. */
  heal(): Promise<void>;
}

export interface Network {
  addMember(): Promise<NetworkMember>;
}

const namePrefix = "hostplane-storm-";
/** Exists only in the namespaces of the test. */
const subnet = "10.77";

/** Returns why no namespaces can be created here; false if they can. Throws instead when HOSTPLANE_LAB=required. */
export function reasonToSkipNetwork(): string | false {
  const reason = process.getuid?.() === 0 ? false : "network namespaces need root";
  if (reason !== false && process.env.HOSTPLANE_LAB === "required") {
    throw new Error(`HOSTPLANE_LAB=required, but ${reason}`);
  }
  return reason;
}

/** Creates a network of namespaces, which is removed with the test. The host's own network is not changed. */
export async function createNetwork(t: Pick<Test, "teardown">): Promise<Network> {
  removeLeftNamespaces();
  const ip = async (...args: readonly string[]) => void (await execute("ip", args));
  const nameOf = (member: number | "bridge") => `${namePrefix}${process.pid}-${member}`;
  const bridge = nameOf("bridge");
  const names: string[] = [];
  // Removing a namespace removes its interfaces, and their other ends.
  t.teardown(async () => {
    for (const name of names) {
      await ip("netns", "delete", name);
    }
  });
  async function addNamespace(name: string): Promise<void> {
    await ip("netns", "add", name);
    names.push(name);
    await ip("-n", name, "link", "set", "lo", "up");
  }
  await addNamespace(bridge);
  await ip("-n", bridge, "link", "add", "br0", "type", "bridge");
  await ip("-n", bridge, "link", "set", "br0", "up");
  let count = 0;

  return {
    async addMember() {
      count += 1;
      const [name, port, address] = [nameOf(count), `p${count}`, `${subnet}.${count >> 8}.${count & 255}`];
      await addNamespace(name);
      await ip("-n", bridge, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name);
      await ip("-n", bridge, "link", "set", port, "master", "br0", "up");
      await ip("-n", name, "address", "add", `${address}/16`, "dev", "eth0");
      await ip("-n", name, "link", "set", "eth0", "up");
      return {
        address,
        launcher: ["ip", "netns", "exec", name],
        isolate: () => ip("-n", bridge, "link", "set", port, "nomaster"),
        unplug: () => ip("-n", name, "link", "set", "eth0", "down"),
        async heal() {
          await ip("-n", bridge, "link", "set", port, "master", "br0");
          await ip("-n", name, "link", "set", "eth0", "up");
        },
      };
    },
  };
}

/** Removes namespaces of tests that were killed. */
function removeLeftNamespaces(): void {
  const running = new Set(readdirSync("/proc"));
  const names = execFileSync("ip", ["netns", "list"], { encoding: "utf8" }).match(/^\S+/gm) ?? [];
  for (const name of names) {
    const pid = name.startsWith(namePrefix) ? name.slice(namePrefix.length).split("-")[0] : undefined;
    if (pid !== undefined && !running.has(pid)) {
      execFileSync("ip", ["netns", "delete", name]);
    }
  }
}
