import type { CephAdapter } from "../../adapters/ceph/adapter.ts";
import type { Inspector } from "./inspection.ts";

/** The Ceph cluster: whether it lets the gateway in, and what the keys may. */
export function createCephInspector(ceph: Pick<CephAdapter, "inspect">): Inspector {
  return { name: "ceph", inspect: () => ceph.inspect() };
}
