import type { LibvirtClient } from "./rpc/client.ts";

/** Returns the version of the connected libvirt, e.g. `9.0.1`. @throws InfraError as the client */
export async function readLibvirtVersion(client: LibvirtClient): Promise<string> {
  const { version } = await client.call("connectGetLibVersion", {});
  // libvirt encodes 9.0.1 as 9000001.
  return [version / 1_000_000n, (version / 1_000n) % 1_000n, version % 1_000n].join(".");
}
