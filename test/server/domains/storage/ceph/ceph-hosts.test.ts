import { test } from "tap";
import type { CephState } from "../../../../../adapters/ceph/adapter.ts";
import { sandboxState } from "../../../../../adapters/ceph/sandbox-cluster.ts";
import { cephHostStatuses } from "../../../../../server/domains/storage/ceph/ceph-hosts.ts";

function readyOf(downOsds: readonly number[], quorum: readonly string[], change: Partial<CephState> = {}) {
  const state = sandboxState(0);
  if ("missing" in state.osds || "missing" in state.mons) {
    throw new TypeError("the sandbox is whole");
  }
  const osds = state.osds.ok.osds.map((osd) => ({ ...osd, isUp: !downOsds.includes(osd.id) }));
  const hosts = cephHostStatuses({
    ...state,
    osds: { ok: { ...state.osds.ok, osds } },
    mons: { ok: { ...state.mons.ok, quorum } },
    ...change,
  });
  return "ok" in hosts ? hosts.ok.map(({ name, isReady }) => `${name} ${isReady}`) : hosts.missing;
}

const ready = ["sandbox-ceph-1 true", "sandbox-ceph-2 true", "sandbox-ceph-3 true"];

test("a host is ready while any of its OSDs is up", async (t) => {
  t.same(readyOf([], ["a", "b", "c"]), ready);
  t.same(readyOf([0, 4], ["a", "b", "c"]), ready, "one OSD of two");
  t.same(readyOf([0, 3], ["a", "b", "c"]), ["sandbox-ceph-1 false", ...ready.slice(1)], "both OSDs");
  t.same(readyOf([], ["b", "c"]), ready, "only its monitor is down");
});

test("a host without OSDs is ready while any of its daemons is up", async (t) => {
  const hosts = {
    ok: [
      { name: "one", daemons: ["mon.a"] },
      { name: "two", daemons: ["mds.x", "mon.b"] },
    ],
  };
  t.same(readyOf([], ["c"], { hosts }), ["one false", "two true"]);
});

test("without hosts, OSDs or monitors the readiness is missing", async (t) => {
  for (const part of ["hosts", "osds", "mons"]) {
    t.equal(readyOf([], [], { [part]: { missing: `no ${part}` } }), `no ${part}`);
  }
});
