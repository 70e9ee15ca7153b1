import type { Test } from "tap";
import type { LibvirtClient } from "../../../../adapters/libvirt/rpc/client.ts";
import type { LibvirtEvent } from "../../../../adapters/libvirt/rpc/events.ts";
import { nameOf, type OnPacket, startClient, startFakeDaemon } from "./fake-daemon.ts";

export const domain = { name: "vm", uuid: "0a1b2c3d-4e5f-4071-8293-a4b5c6d7e8f9", id: 4 };

/** Resolves with the reason when the client enters this state. */
export function until(client: LibvirtClient, expected: string): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const stop = client.onStateChange((state, why) => {
      if (state === expected) {
        stop();
        resolve(why);
      }
    });
  });
}

/** Resolves with the next event of this kind. */
export function untilEvent(client: LibvirtClient, kind: LibvirtEvent["kind"]): Promise<LibvirtEvent> {
  return new Promise((resolve) => {
    const stop = client.subscribe((event) => {
      if (event.kind === kind) {
        stop();
        resolve(event);
      }
    });
  });
}

/** Starts a daemon with this handler of the hostname call, and a connected client. */
export async function startBoth(
  t: Test,
  onHostname: OnPacket,
  options: Parameters<typeof startClient>[2] = {},
) {
  const daemon = await startFakeDaemon(
    t,
    (packet, peer) => nameOf(packet) === "connectGetHostname" && onHostname(packet, peer),
  );
  const client = startClient(t, daemon, options);
  await client.ready();
  return { daemon, client, hostname: () => client.call("connectGetHostname", {}) };
}
