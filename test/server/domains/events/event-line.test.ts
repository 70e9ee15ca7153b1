import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import { EventSchema } from "../../../../gen/hostplane/v1/event_pb.ts";
import { OperationState } from "../../../../gen/hostplane/v1/operation_pb.ts";
import { eventLine } from "../../../../server/domains/events/event-line.ts";

const at = timestampFromMs(Date.UTC(2026, 0, 31, 10));
const lineOf = (event: Parameters<typeof create<typeof EventSchema>>[1]) =>
  eventLine(create(EventSchema, { at, resource: "r/1", ...event }));
const time = "2026-01-31T10:00:00.000Z";

test("events of volumes are formatted as one line, and so are unknown ones", async (t) => {
  t.equal(lineOf({ type: "newer.thing" }), `${time} newer.thing r/1`);
  const volume = { name: "data", sizeBytes: 1n << 30n };
  t.equal(
    lineOf({ type: "volume.created", host: "h", detail: { case: "volume", value: volume } }),
    `${time} volume.created r/1 on h: 1 GiB`,
  );
  t.equal(
    lineOf({ type: "host.lost", resource: "hosts/node-1" }),
    `${time} host.lost hosts/node-1`,
    "an event of a hub",
  );
  t.equal(
    lineOf({ type: "gap", host: "h", fleetHost: "node-1" }),
    `${time} gap r/1 on node-1`,
    "a host of a fleet is named as in the fleet",
  );
  const resized = { ...volume, sizeBytes: 3n << 29n, previousSizeBytes: 1000n, outside: true };
  t.equal(
    lineOf({ type: "volume.resized", detail: { case: "volume", value: resized } }),
    `${time} volume.resized r/1: 1.5 GiB, before 1000 bytes; not by this gateway`,
  );
  const changed = { ...volume, sizeBytes: 0n, changes: ["active: no -> yes", "tags: none -> a"] };
  t.equal(
    lineOf({ type: "volume.changed", operationId: "op-1", detail: { case: "volume", value: changed } }),
    `${time} volume.changed r/1: 0 bytes; active: no -> yes; tags: none -> a; by operation op-1`,
  );
  const group = { name: "vg0", deviceClasses: ["ssd", "fast"], freeBytes: 5n << 20n, sizeBytes: 1n << 62n };
  t.equal(
    lineOf({ type: "volumeGroup.low", detail: { case: "volumeGroup", value: group } }),
    `${time} volumeGroup.low r/1: 5 MiB of 4 EiB free; ssd, fast`,
  );
});

test("events of machines and clusters are formatted as one line", async (t) => {
  const stopped = { id: "bm-1", state: "off", previousState: "running", outside: true };
  t.equal(
    lineOf({ type: "hypervisor.stopped", detail: { case: "hypervisor", value: stopped } }),
    `${time} hypervisor.stopped r/1: off, before running; not by this gateway`,
  );
  const unknown = {
    ...stopped,
    state: "unknown",
    outside: false,
    reason: "libvirt is away",
    changes: ["a -> b"],
  };
  t.equal(
    lineOf({ type: "hypervisor.unknown", detail: { case: "hypervisor", value: unknown } }),
    `${time} hypervisor.unknown r/1: unknown, before running; libvirt is away; a -> b`,
  );
  const back = { ...stopped, previousState: "unknown", outside: false, changes: ["state: unknown -> off"] };
  t.equal(
    lineOf({ type: "hypervisor.changed", detail: { case: "hypervisor", value: back } }),
    `${time} hypervisor.changed r/1: off; state: unknown -> off`,
  );
  const cluster = { name: "demo", status: "DEGRADED", previousStatus: "RUNNING", statusMessage: "1 is away" };
  t.equal(
    lineOf({ type: "kubernetesCluster.status", detail: { case: "kubernetesCluster", value: cluster } }),
    `${time} kubernetesCluster.status r/1: DEGRADED, before RUNNING; 1 is away`,
  );
  const machine = { cluster: "demo", pool: "workers", state: "deploying", systemId: "sbxaaa" };
  t.equal(
    lineOf({ type: "kubernetesMachine.changed", detail: { case: "kubernetesMachine", value: machine } }),
    `${time} kubernetesMachine.changed r/1: deploying, machine sbxaaa; of demo, pool workers`,
  );
  const pool = {
    name: "pool",
    sizeBytes: 2n << 30n,
    previousSizeBytes: 1n << 30n,
    added: ["/dev/b", "/dev/c"],
  };
  t.equal(
    lineOf({
      type: "storagePool.changed",
      operationId: "op-1",
      detail: { case: "storagePool", value: pool },
    }),
    `${time} storagePool.changed r/1: 2 GiB, before 1 GiB; added /dev/b, /dev/c; by operation op-1`,
  );
  const smaller = { ...pool, sizeBytes: 1n << 29n, added: [], removed: ["/dev/c"] };
  t.equal(
    lineOf({ type: "storagePool.changed", detail: { case: "storagePool", value: smaller } }),
    `${time} storagePool.changed r/1: 512 MiB, before 1 GiB; removed /dev/c`,
  );
});

test("events of Ceph are formatted as one line", async (t) => {
  const health = {
    cluster: "f",
    status: "HEALTH_WARN",
    previousStatus: "HEALTH_OK",
    raised: ["OSD_DOWN: 1 osds down", "PG_DEGRADED: 1/3 objects degraded"],
  };
  t.equal(
    lineOf({ type: "cluster.health", detail: { case: "clusterHealth", value: health } }),
    `${time} cluster.health r/1: HEALTH_WARN, before HEALTH_OK; OSD_DOWN: 1 osds down; PG_DEGRADED: 1/3 objects degraded`,
  );
  const eased = { ...health, previousStatus: "HEALTH_WARN", raised: [], cleared: ["OSD_DOWN", "SLOW_OPS"] };
  t.equal(
    lineOf({ type: "cluster.health", detail: { case: "clusterHealth", value: eased } }),
    `${time} cluster.health r/1: HEALTH_WARN; cleared OSD_DOWN, SLOW_OPS`,
  );
  const osd = { name: "osd.1", host: "h1", state: "down, in", previousState: "up, in" };
  t.equal(
    lineOf({ type: "osd.down", detail: { case: "cephDaemon", value: osd } }),
    `${time} osd.down r/1: osd.1 on h1 down, in, before up, in`,
  );
  t.equal(
    lineOf({ type: "rgw.added", detail: { case: "cephDaemon", value: { name: "rgw.a", state: "up" } } }),
    `${time} rgw.added r/1: rgw.a up`,
  );
  const space = { name: "images", usedBytes: 86n << 30n, totalBytes: 100n << 30n };
  t.equal(
    lineOf({ type: "pool.nearFull", detail: { case: "cephSpace", value: space } }),
    `${time} pool.nearFull r/1: images 86 GiB of 100 GiB used`,
  );
  const crash = { id: "c", entity: "osd.1", host: "h1", at, what: "FAILED ceph_assert" };
  t.equal(
    lineOf({ type: "crash.reported", detail: { case: "cephCrash", value: crash } }),
    `${time} crash.reported r/1: osd.1 on h1 at ${time}: FAILED ceph_assert`,
  );
  const { at: _at, ...undated } = crash;
  t.equal(
    lineOf({ type: "crash.reported", detail: { case: "cephCrash", value: undated } }),
    `${time} crash.reported r/1: osd.1 on h1: FAILED ceph_assert`,
  );
});

test("events of pods and operations, and gaps, are formatted as one line", async (t) => {
  const pod = { id: "u", name: "web", happenedAt: at };
  t.equal(
    lineOf({ type: "pod.started", operationId: "op-1", detail: { case: "pod", value: pod } }),
    `${time} pod.started r/1: web; by operation op-1`,
  );
  const exited = { ...pod, container: "app", containerId: "0123456789abcdef", exitCode: 137 };
  t.equal(
    lineOf({ type: "container.exited", detail: { case: "pod", value: exited } }),
    `${time} container.exited r/1: of web, container 0123456789ab; exit code 137`,
  );
  const found = { ...exited, name: "", exitCode: 0, reconciled: true };
  t.equal(
    lineOf({ type: "container.exited", detail: { case: "pod", value: found } }),
    `${time} container.exited r/1: container 0123456789ab; exit code 0; detected later, happened at ${time}`,
  );
  const image = { id: "i", names: ["a:1", "b:1"], happenedAt: at };
  t.equal(
    lineOf({ type: "image.added", detail: { case: "image", value: image } }),
    `${time} image.added r/1: a:1, b:1`,
  );
  const gap = { to: at, reason: "the gateway was down" };
  t.equal(
    lineOf({ type: "gap", detail: { case: "gap", value: gap } }),
    `${time} gap r/1: to ${time}: the gateway was down`,
  );
  t.equal(
    lineOf({ type: "gap", detail: { case: "gap", value: { ...gap, from: timestampFromMs(0) } } }),
    `${time} gap r/1: from 1970-01-01T00:00:00.000Z to ${time}: the gateway was down`,
  );
  const operation = { id: "op-1", kind: "volumes.backup", state: OperationState.ACTIVE, message: "reading" };
  t.equal(
    lineOf({ type: "operation.changed", detail: { case: "operation", value: operation } }),
    `${time} operation.changed r/1: volumes.backup op-1 active: reading`,
  );
});

test("text from a tool cannot control the terminal", async (t) => {
  const gap = { to: at, reason: "broken\n\u001b[2Jscreen" };
  t.match(lineOf({ detail: { case: "gap", value: gap } }), /broken \ufffd\[2Jscreen$/);
});
