import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { Registry } from "@prometheus-io/client";
import { test } from "tap";
import { VolumeService } from "../../../gen/hostplane/v1/volume_pb.ts";
import { LVService } from "../../../gen/proto/lvmd_pb.ts";
import type { MetricSample, MetricSource } from "../../../server/domain/metric-source.ts";
import { createDomainMetrics } from "../../../server/observability/domain-metrics.ts";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { readMetrics, samplesFrom } from "./metrics-text.ts";
import { standInLvm } from "./stand-in-lvm.ts";

const gib = 2 ** 30;

function sourceOf(name: string, read: MetricSource["read"]): MetricSource {
  return { families: [{ name, help: "A test.", labels: ["pool"] }], read };
}

test("a source that fails or does not answer has no series, and hides no other", async (t) => {
  const registry = new Registry();
  let answer: () => Promise<readonly MetricSample[]> = async () => [
    { name: "test_free", labels: { pool: "a" }, value: 1 },
  ];
  const collect = createDomainMetrics(
    registry,
    [
      sourceOf("test_free", () => answer()),
      sourceOf("test_late", () => new Promise(() => {})),
      sourceOf("test_used", async () => [{ name: "test_used", labels: { pool: "b" }, value: 2 }]),
    ],
    50,
  );
  const read = async () => {
    await collect();
    return Object.fromEntries(samplesFrom(await registry.metrics()));
  };
  t.same(await read(), { 'test_free{pool="a"}': 1, 'test_used{pool="b"}': 2 });
  answer = async () => {
    throw new Error("gone");
  };
  t.same(await read(), { 'test_used{pool="b"}': 2 }, "an old figure is not repeated");
});

test("a late source gets an aborted signal", async (t) => {
  let signal: AbortSignal | undefined;
  const source = sourceOf("test_free", (each) => {
    signal = each;
    return new Promise(() => {});
  });
  await createDomainMetrics(new Registry(), [source], 20)();
  t.equal(signal?.aborted, true);
});

test("the free space of a device class follows its volumes", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  const series = 'hostplane_device_class_free_bytes{device_class="sandbox-ssd"}';
  const before = (await readMetrics(url)).get(series) ?? 0;
  const transport = createConnectTransport({ baseUrl: url, httpVersion: "2" });
  await createClient(LVService, transport).createLV({ name: "data", sizeGb: 2n });
  t.equal((await readMetrics(url)).get(series), before - 2 * gib);
});

test("a copy-on-write snapshot has its used share, until it is removed", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  const volumes = createClient(VolumeService, createConnectTransport({ baseUrl: url, httpVersion: "2" }));
  const series = 'hostplane_snapshot_used_ratio{volume="volumeGroups/sandbox-vg/volumes/frozen"}';
  await volumes.createSnapshot({ source: "sandbox-web", name: "frozen" });
  t.equal((await readMetrics(url)).get(series), 0);
  await volumes.deleteVolume({ name: "frozen" });
  t.equal((await readMetrics(url)).get(series), undefined);
});

test("a thin pool's class is measured by its overprovisioning limit", async (t) => {
  const { volumes } = await standInLvm(t, "vm-thin.txt");
  const thin = { name: "thin", volumeGroup: "vg0", thinPool: "pool", overprovision: 100, default: true };
  const { url } = await startGatewayUnderTest(t, { volumes: { ...volumes, deviceClasses: [thin] } });
  const metrics = await readMetrics(url);
  const of = (name: string) => metrics.get(`hostplane_${name}{device_class="thin"}`);
  const free = of("device_class_free_bytes") ?? Number.NaN;
  const size = of("device_class_size_bytes") ?? Number.NaN;
  t.ok(free > 0 && free < size, `${free} of ${size}`);
  const used = of("thin_pool_data_used_ratio") ?? Number.NaN;
  t.ok(used > 0 && used < 1, `${used}`);
  t.ok((of("thin_pool_metadata_used_ratio") ?? 1) < 1);
});

test("the figures of the storage pool and of Ceph are those of the sandbox", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  const metrics = await readMetrics(url);
  t.equal(metrics.get('hostplane_storage_pool_devices_missing{pool="sandbox-pool"}'), 0);
  t.equal(metrics.get('hostplane_ceph_health{status="HEALTH_OK"}'), 1);
  t.equal(metrics.get('hostplane_ceph_health{status="HEALTH_ERR"}'), 0);
  const up = [...metrics].filter(([series]) => series.startsWith("hostplane_ceph_osd_up"));
  t.ok(up.length > 1 && up.every(([, value]) => value === 1));
  t.ok((metrics.get('hostplane_ceph_pool_free_bytes{pool="images"}') ?? 0) > gib);
  t.ok((metrics.get("hostplane_store_size_bytes") ?? 0) > 4096);
});
