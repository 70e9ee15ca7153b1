import { createSnapshotCache } from "../../../adapters/host/snapshot.ts";
import type { LvmAdapter } from "../../../adapters/lvm/adapter.ts";
import { createReportParser } from "../../../adapters/lvm/report/report-parser.ts";
import { createLvmSandbox } from "../../../adapters/lvm/sandbox.ts";

/** A volume group as `lvm fullreport` reports it, without the time that lvm takes. */
export interface ReportedLvm {
  readonly lvm: LvmAdapter;
  /** The report of the current state. */
  report(): string;
  /** Changes the tag of one volume, each time of another one. */
  change(): void;
}

/** Creates a volume group with volumes named as Kubernetes names them. */
export function createReportedLvm(count: number): ReportedLvm {
  let changes = 0;
  let text = fullReport(count, changes);
  const parse = createReportParser();
  const cache = createSnapshotCache({ system: "lvm", load: async () => parse(text) });
  return {
    lvm: {
      ...createLvmSandbox(),
      kind: "real",
      read: cache.read,
      readRecent: cache.readRecent,
      refresh: cache.refresh,
      subscribe: cache.subscribe,
    },
    report: () => text,
    change() {
      changes += 1;
      text = fullReport(count, changes);
      cache.invalidate();
    },
  };
}

function fullReport(count: number, changes: number): string {
  const lv = Array.from({ length: count }, (_, at) => ({
    lv_name: `pvc-6f5a1c52-8d7e-4c0b-9a43-${String(at).padStart(12, "0")}`,
    lv_uuid: `3ZcXvh-8Ktl-ANX2-0Ip6-Trxn-ITgf-${String(at).padStart(6, "0")}`,
    lv_size: String(1 << 30),
    lv_attr: "-wi-a-----",
    lv_tags: at === changes % count ? `change=${changes}` : "",
    lv_kernel_major: "253",
    lv_kernel_minor: String(at),
    pool_lv: "",
    origin: "",
    origin_size: "",
    data_percent: "",
    metadata_percent: "",
    lv_metadata_size: "",
  }));
  const device = { pv_name: "/dev/sda", pv_uuid: "RmZlLD-pS2B-0xpR-jFJA-vLWl-qcvE-mcSsJp" };
  const group = {
    vg: [
      {
        vg_name: "vg0",
        vg_uuid: "9fSVdn-vZXW-kiMS-dDv8-Wvgk-F6Ff-cSQBrD",
        vg_size: String(1n << 43n),
        vg_free: String(1n << 42n),
        vg_extent_size: String(4 << 20),
        vg_missing_pv_count: "0",
        vg_exported: "",
      },
    ],
    pv: [
      {
        ...device,
        pv_size: String(1n << 43n),
        pv_used: String(1n << 42n),
        pv_allocatable: "allocatable",
        pv_missing: "",
        pv_duplicate: "",
        pv_major: "8",
        pv_minor: "0",
      },
    ],
    lv,
    pvseg: lv.map(({ lv_name }) => ({ pv_name: device.pv_name, lv_name, lv_parent: "" })),
  };
  return JSON.stringify({ report: [group] });
}
