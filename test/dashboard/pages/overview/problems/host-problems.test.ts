import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import { hostProblems } from "../../../../../dashboard/pages/overview/problems/host-problems.ts";
import type { HostNeed } from "../../../../../dashboard/parts/health/host-needs.ts";
import { HostSchema } from "../../../../../gen/hostplane/v1/fleet_pb.ts";

const host = create(HostSchema, { name: "node-1", lastSeenAt: timestampFromMs(1_000) });
const silent: HostNeed = { kind: "silent", severity: "failed", text: "not connected" };
const failing: HostNeed = { kind: "failing", severity: "failed", text: "lvm is unreachable" };
const full: HostNeed = { kind: "full", severity: "warn", text: "vg0 is 90 % full" };

test("a host with failures is one problem, since it was last seen if it is silent", async (t) => {
  t.match(hostProblems([{ host, needs: [silent, failing, full] }]), [
    {
      severity: "failed",
      title: "Host node-1: not connected",
      cause: "lvm is unreachable",
      sinceMs: 1_000,
      path: "/hosts/node-1",
    },
  ]);
  t.match(hostProblems([{ host, needs: [failing] }]), [
    { title: "Host node-1: lvm is unreachable", cause: "", sinceMs: undefined },
  ]);
});

test("a host with warnings only is no problem", async (t) => {
  t.same(hostProblems([{ host, needs: [full] }]), []);
  t.same(hostProblems([{ host, needs: [] }]), []);
});
