import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import { fullestFigure, hostRows, hostStatus } from "../../../../dashboard/parts/health/host-needs.ts";
import {
  type Host,
  type HostFigureSchema,
  HostReportSchema,
  HostSchema,
} from "../../../../gen/hostplane/v1/fleet_pb.ts";
import { BackendHealth, BackendKind, type BackendSchema } from "../../../../gen/hostplane/v1/system_pb.ts";

const nowMs = 1_700_000_000_000;
const dayMs = 86_400_000;

/** A host as a test describes it: connected and well unless it says otherwise. */
interface Given {
  readonly name?: string;
  readonly connected?: boolean;
  /** Milliseconds since 1970; undefined for never. */
  readonly seenMs?: number | undefined;
  readonly expiresInDays?: number;
  readonly version?: string;
  readonly cpuLoad?: number;
  readonly backends?: MessageInitShape<typeof BackendSchema>[];
  readonly figures?: MessageInitShape<typeof HostFigureSchema>[];
}

function hostOf(given: Given): Host {
  const { name = "node", connected = true, expiresInDays = 20, version = "1.0.0" } = given;
  const { backends = [], figures = [], cpuLoad } = given;
  const seenMs = "seenMs" in given ? given.seenMs : nowMs;
  return create(HostSchema, {
    name,
    connected,
    ...(seenMs === undefined ? {} : { lastSeenAt: timestampFromMs(seenMs) }),
    certificateExpiresAt: timestampFromMs(nowMs + expiresInDays * dayMs),
    report: create(HostReportSchema, {
      version,
      backends,
      figures,
      ...(cpuLoad === undefined ? {} : { cpuLoad }),
    }),
  });
}

const needsOf = (given: Given) => hostRows([hostOf(given)], "1.0.0", nowMs)[0]?.needs ?? [];
const textsOf = (given: Given) => needsOf(given).map(({ severity, text }) => `${severity}: ${text}`);
const figure = (usedBytes: number, resource = "volumeGroups/vg0") => ({
  resource,
  usedBytes: BigInt(usedBytes),
  totalBytes: 1000n,
});
const backend = (name: string, health: BackendHealth, kind: BackendKind = BackendKind.REAL) => ({
  name,
  health,
  kind,
});

test("what a host needs is named, with what is worst first", async (t) => {
  t.same(textsOf({ name: "well" }), []);
  t.same(textsOf({ connected: false }), ["failed: not connected"]);
  t.same(textsOf({ connected: false, seenMs: undefined }), ["failed: never connected"]);
  t.same(textsOf({ figures: [figure(849)] }), []);
  t.same(textsOf({ figures: [figure(850)] }), ["warn: vg0 is 85 % full"]);
  t.same(textsOf({ version: "0.9.0", figures: [figure(960)] }), [
    "failed: vg0 is 96 % full",
    "warn: version 0.9.0, the hub has 1.0.0",
  ]);
  t.same(textsOf({ cpuLoad: 1.75 }), []);
  t.same(textsOf({ cpuLoad: 2 }), ["warn: load is 2 per CPU"]);
  t.same(textsOf({ expiresInDays: 6 }), ["warn: certificate is not renewed"]);
});

test("only systems that are configured can fail", async (t) => {
  const backends = [
    backend("lvm", BackendHealth.DEGRADED),
    backend("libvirt", BackendHealth.UNAVAILABLE),
    backend("podman", BackendHealth.UNAVAILABLE, BackendKind.OFF),
    backend("ceph", BackendHealth.OK),
  ];
  t.same(textsOf({ backends }), ["failed: libvirt is unreachable", "warn: lvm is degraded"]);
});

test("hosts are ordered by what they need: silent, failing, full, hot, different, healthy", async (t) => {
  const hosts = [
    hostOf({ name: "healthy" }),
    hostOf({ name: "hot", cpuLoad: 3 }),
    hostOf({ name: "different", version: "0.9.0" }),
    hostOf({ name: "nearly-full", figures: [figure(900)] }),
    hostOf({ name: "full", figures: [figure(990)] }),
    hostOf({
      name: "failing",
      backends: [backend("lvm", BackendHealth.UNAVAILABLE)],
    }),
    hostOf({ name: "silent", connected: false }),
  ];
  const rows = hostRows(hosts, "1.0.0", nowMs);
  t.same(
    rows.map(({ host }) => host.name),
    ["silent", "failing", "full", "nearly-full", "hot", "different", "healthy"],
  );
  t.same(
    rows.map(({ needs }) => hostStatus(needs).kind),
    ["failed", "failed", "failed", "warn", "warn", "warn", "ok"],
  );
});

test("the fullest figure of a host is that with the largest share", async (t) => {
  const figures = [
    figure(100, "volumeGroups/a"),
    figure(300, "volumeGroups/b"),
    { resource: "volumeGroups/empty", usedBytes: 0n, totalBytes: 0n },
  ];
  t.equal(fullestFigure(hostOf({ figures }))?.resource, "volumeGroups/b");
  t.equal(fullestFigure(hostOf({})), undefined);
});
