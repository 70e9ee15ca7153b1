import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { libvirtReasons } from "../../../adapters/libvirt/reasons.ts";
import { createLibvirtSandbox, sandboxGpu } from "../../../adapters/libvirt/sandbox.ts";
import { reasonOf } from "../host/reason-of.ts";
import { testLibvirtContract } from "./contract.ts";

const quick = { startMs: 0, bootMs: 0, shutDownMs: 0 };
const gibibyte = 1n << 30n;

testLibvirtContract("sandbox", async () => ({
  libvirt: createLibvirtSandbox({
    ...quick,
    pools: [
      {
        name: "images",
        capacityBytes: 100n * gibibyte,
        volumes: [{ name: "base.qcow2", format: "qcow2", sizeBytes: gibibyte }],
      },
    ],
    networks: ["lan"],
  }),
  pool: "images",
  backingVolume: "base.qcow2",
  network: "lan",
  hostDevice: sandboxGpu.pciAddress,
}));

test("starts with a running hypervisor, a VM created by others, and a pool with an image", async (t) => {
  const libvirt = createLibvirtSandbox();
  t.teardown(() => libvirt.close());
  const { domains, pools } = (await libvirt.read()).value;
  t.match(domains, [
    { name: "sandbox-hv-1", state: "running", mark: { hypervisorId: "sandbox-hv-1" } },
    { name: "sandbox-old-1", state: "shutOff", mark: undefined },
  ]);
  t.match(pools, [{ name: "sandbox-pool", isActive: true }]);
  t.match(await libvirt.volumesOf("sandbox-pool"), [
    { name: "hypervisor-sandbox-hv-1.qcow2" },
    { name: "sandbox-base.qcow2" },
  ]);
});

test("subscribers are notified of an outage and of its end", async (t) => {
  const libvirt = createLibvirtSandbox();
  t.teardown(() => libvirt.close());
  const before = await libvirt.read();
  const reported = (): Promise<void> =>
    new Promise((resolve) => {
      const unsubscribe = libvirt.subscribe(() => {
        unsubscribe();
        resolve();
      });
    });
  t.teardown(libvirt.subscribe(() => {}));
  const gone = reported();
  libvirt.setOutage(new InfraError(libvirtReasons.LIBVIRT_UNAVAILABLE, "stopped"));
  await gone;
  t.equal(await reasonOf(libvirt.read()), "LIBVIRT_UNAVAILABLE");
  t.equal(await reasonOf(libvirt.volumesOf("sandbox-pool")), "LIBVIRT_UNAVAILABLE");
  const back = reported();
  libvirt.setOutage(undefined);
  await back;
  t.same((await libvirt.read()).value, before.value);
});

test("a GPU can be used by one running VM only", async (t) => {
  const uuids = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"];
  const domains = uuids.map((uuid, index) => ({
    name: `gpu-${index}`,
    uuid,
    vcpuCount: 1,
    memoryBytes: gibibyte,
    gpus: [sandboxGpu.pciAddress],
  }));
  const libvirt = createLibvirtSandbox({ ...quick, domains });
  t.teardown(() => libvirt.close());
  const [first = "", second = ""] = uuids;
  t.match((await libvirt.read()).value.domains[0]?.gpus, [sandboxGpu]);
  await libvirt.run({ kind: "start", name: "gpu-0", uuid: first });
  t.equal(await reasonOf(libvirt.run({ kind: "start", name: "gpu-1", uuid: second })), "DOMAIN_STATE");
  await libvirt.run({ kind: "powerOff", name: "gpu-0", uuid: first });
  await libvirt.run({ kind: "start", name: "gpu-1", uuid: second });
});

test("the space of a pool is limited", async (t) => {
  const libvirt = createLibvirtSandbox({ ...quick, pools: [{ name: "p", capacityBytes: gibibyte }] });
  t.teardown(() => libvirt.close());
  const at = { kind: "createVolume", pool: "p", format: "raw" } as const;
  await libvirt.run({ ...at, name: "a", sizeBytes: gibibyte / 2n });
  t.equal(await reasonOf(libvirt.run({ ...at, name: "b", sizeBytes: gibibyte })), "NO_SPACE");
  t.equal((await libvirt.read()).value.pools[0]?.freeBytes, gibibyte / 2n);
  await libvirt.run({ kind: "deleteVolume", pool: "p", name: "a" });
  await libvirt.run({ ...at, name: "b", sizeBytes: gibibyte });
});
