import type { CephAdapter } from "../../../../adapters/ceph/adapter.ts";
import type { Inspector } from "../../../domain/inspection.ts";

/** Checks whether the Ceph cluster accepts the gateway, and what its keys permit. */
export function createCephInspector(ceph: Pick<CephAdapter, "inspect">): Inspector {
  return { name: "ceph", inspect: () => ceph.inspect() };
}
