import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import { type Test, test } from "tap";
import type { LibvirtAdapter } from "../../../../../adapters/libvirt/adapter.ts";
import { OperationsService } from "../../../../../gen/operations/v1/operations_pb.ts";
import { plannersOf } from "../../../../../server/domain/change.ts";
import { openOwnStore } from "../../../store/own-store.ts";
import { createHypervisorGateway, createLibvirt } from "../hypervisors-under-test.ts";

const { createHypervisor, createHypervisors, destroyHypervisor, destroyHypervisors, expandStorage } =
  OperationsService.method;

async function createPlan(t: Test, libvirt: LibvirtAdapter = createLibvirt(t)) {
  const { changes } = await createHypervisorGateway(t, { libvirt, store: await openOwnStore(t) });
  const planners = plannersOf(OperationsService, changes);
  const { signal } = new AbortController();
  return async (method: DescMethod, value: Record<string, unknown>) => {
    const planner = planners.plannerOf(method);
    return planner?.(create(method.input, value) as Message, { signal, peer: { lvmd: "backups" } });
  };
}

test("a plan shows what is created, the libvirt calls, and that everything can be undone", async (t) => {
  const plan = await createPlan(t);
  const planned = await plan(createHypervisor, { id: "hv-2" });
  t.match(planned, {
    kind: "hypervisors.create",
    resource: "hypervisors/hv-2",
    plan: {
      losses: [],
      changes: [/hv-2 is created with 4 threads, 2048 MiB of RAM and a disk of 10 GiB in images/],
    },
    pointOfNoReturn: 6,
  });
  t.same(
    planned?.steps.map(({ name, command }) => [name, command[0]]),
    [
      ["check", undefined],
      ["volume", "virStorageVolCreateXML"],
      ["seed", "virStorageVolUpload"],
      ["define", "virDomainDefineXMLFlags"],
      ["start", "virDomainCreateWithFlags"],
      ["ready", undefined],
    ],
  );
  t.match(await plan(createHypervisor, { id: "old-2" }), {
    plan: { changes: ["old-2 is started"] },
  });
});

test("the plan for a hypervisor that is already defined only starts it", async (t) => {
  const libvirt = createLibvirt(t);
  const uuid = "00000000-0000-4000-8000-0000000000ff";
  await libvirt.run({ kind: "createVolume", pool: "images", name: "d", format: "raw", sizeBytes: 1n << 20n });
  await libvirt.run({
    kind: "define",
    domain: {
      name: "hv-1",
      uuid,
      vcpuCount: 1,
      memoryBytes: 1n << 30n,
      mark: { hypervisorId: "hv-1", operationId: "earlier", createdVolumes: [] },
      serial: "hv-1",
      disks: [{ pool: "images", volume: "d", format: "raw", device: "disk" }],
      network: undefined,
      hostDevices: [],
    },
  });
  const planned = await (await createPlan(t, libvirt))(createHypervisor, { id: "hv-1" });
  t.strictSame(planned?.plan.changes, ["hv-1 is started"]);
  t.same(
    planned?.steps.map(({ name }) => name),
    ["check", "start", "ready"],
  );
});

test("in a pool without files a plan shows a raw disk without a suffix", async (t) => {
  const libvirt = createLibvirt(t);
  const logical: LibvirtAdapter = {
    ...libvirt,
    async read(signal) {
      const { value, ...snapshot } = await libvirt.read(signal);
      return {
        ...snapshot,
        value: { ...value, pools: value.pools.map((one) => ({ ...one, type: "logical" })) },
      };
    },
  };
  const planned = await (await createPlan(t, logical))(createHypervisor, { id: "hv-2" });
  const volume = planned?.steps.find(({ name }) => name === "volume");
  t.match(volume?.command[2], /<name>hypervisor-hv-2<\/name>.*<format type="raw"/s);
});

test("the plan of a destruction shows what is lost", async (t) => {
  const plan = await createPlan(t);
  t.match(await plan(destroyHypervisor, { id: "old-1" }), {
    kind: "hypervisors.destroy",
    plan: { changes: ["old-1 is powered off"], losses: [/the workloads on old-1/] },
    steps: [{ name: "powerOff" }],
    pointOfNoReturn: 0,
  });
});

test("several hypervisors have one plan, which is rejected like the call", async (t) => {
  const plan = await createPlan(t);
  const planned = await plan(createHypervisors, { ids: ["hv-2", "hv-3"] });
  t.equal(planned?.steps.length, 12);
  t.equal(planned?.resource, "hypervisors");
  const refused = (method: DescMethod, value: Record<string, unknown>, reason: string) =>
    t.rejects(plan(method, value), { name: "InfraError", reason });
  await refused(createHypervisors, { ids: ["hv-2", "old-1"] }, "HYPERVISOR_RUNNING");
  await refused(createHypervisor, { id: "none" }, "HYPERVISOR_NOT_FOUND");
  await refused(destroyHypervisor, { id: "hv-2" }, "HYPERVISOR_OFF");
  await refused(destroyHypervisors, { ids: [] }, "INVALID_FIELD");
  await refused(expandStorage, { minBytes: 1 }, "DOMAIN_OFF");
});
