import { test } from "tap";
import type { Hypervisor } from "../../../../../server/domains/hypervisors/inventory.ts";
import { createHypervisorResources } from "../../../../../server/domains/hypervisors/monitoring/resources.ts";

const running: Hypervisor = {
  id: "hv-1",
  threadCount: 8,
  memoryMib: 1024,
  capabilities: ["gpu"],
  gpus: [
    { brand: "NVIDIA", model: "A40" },
    { brand: "", model: "" },
  ],
  state: "running",
  reason: "",
  isDefined: true,
  madeBy: "operation-1",
};

async function resourceOf(hypervisor: Hypervisor) {
  const hypervisors = {
    list: () => Promise.resolve({ hypervisors: [hypervisor], readAtMs: 0, failure: undefined }),
  };
  const source = createHypervisorResources(hypervisors, []);
  return (await source.read(AbortSignal.timeout(10_000))).resources[0];
}

test("a machine says which GPUs it has, and which operation created it", async (t) => {
  t.match(await resourceOf(running), {
    health: "ok",
    figures: [
      { name: "vcpus", value: 8, unit: "" },
      { name: "memory", value: 1_073_741_824, unit: "bytes" },
      { name: "gpus", value: 2, unit: "" },
    ],
    properties: { source: "vm", gpus: "NVIDIA A40", created_by: "operation-1" },
  });
});

test("a machine that exists only as a template says so", async (t) => {
  const template = { ...running, state: "off", gpus: [], isDefined: false, madeBy: undefined } as const;
  t.same((await resourceOf(template))?.properties, { source: "template" });
});

test("a machine that libvirt cannot read has a reason, and no figures that are not known", async (t) => {
  const reason = "libvirt cannot read its definition";
  const unknown = { ...running, state: "unknown", threadCount: 0, memoryMib: 0, gpus: [], reason } as const;
  t.match(await resourceOf(unknown), { health: "unknown", reason, figures: [] });
});
