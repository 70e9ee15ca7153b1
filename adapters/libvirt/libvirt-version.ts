import type { LibvirtClient } from "./rpc/client.ts";

/** The version of the libvirt that is connected to, e.g. `9.0.1`. @throws InfraError LIBVIRT_UNAVAILABLE and its like */
export async function readLibvirtVersion(client: LibvirtClient): Promise<string> {
  const { version } = await client.call("connectGetLibVersion", {});
  // libvirt counts 9.0.1 as 9000001.
  return [version / 1_000_000n, (version / 1_000n) % 1_000n, version % 1_000n].join(".");
}
