import { test } from "tap";
import type { DomainState, LibvirtDomain } from "../../../../adapters/libvirt/adapter.ts";
import { createInventory } from "../../../../server/domains/hypervisors/inventory.ts";
import { gib, settings, template } from "./hypervisors-under-test.ts";

function domainOf(name: string, facts: Partial<LibvirtDomain> = {}): LibvirtDomain {
  return {
    name,
    uuid: name,
    state: "running",
    isPersistent: true,
    vcpuCount: 2,
    memoryBytes: 4n * gib,
    mark: undefined,
    gpus: [],
    disks: [],
    filesystems: [],
    ...facts,
  };
}

function marked(name: string, facts: Partial<LibvirtDomain> = {}): LibvirtDomain {
  return domainOf(name, { mark: { hypervisorId: name, operationId: "op", createdVolumes: [] }, ...facts });
}

const gpu = { pciAddress: "0000:41:00.0", brand: "Maker", model: "Model" };

test("the inventory has created VMs, matching VMs and templates, sorted by id", async (t) => {
  const inventory = createInventory(settings);
  const domains = [domainOf("old-1"), marked("hv-2"), domainOf("foreign"), marked("zz")];
  t.match(inventory.of({ domains, pools: [], gpus: [] }), [
    { id: "hv-1", state: "off", madeBy: undefined, threadCount: 4, memoryMib: 2048 },
    { id: "hv-2", state: "running", madeBy: "op", threadCount: 2, memoryMib: 4096 },
    { id: "hv-3", state: "off" },
    { id: "old-1", state: "running", madeBy: undefined },
    { id: "zz", state: "running", madeBy: "op" },
  ]);
});

test("a foreign VM with the name of a template is unknown, with a reason", async (t) => {
  const inventory = createInventory(settings);
  const [first] = inventory.of({ domains: [domainOf("hv-1")], pools: [], gpus: [] });
  t.match(first, { id: "hv-1", state: "unknown", reason: /hostplane did not create/ });
  const renamed = domainOf("hv-1", { mark: { hypervisorId: "hv-9", operationId: "op", createdVolumes: [] } });
  t.match(
    inventory.of({ domains: [renamed], pools: [], gpus: [] })[0],
    { state: "unknown" },
    "the mark of another hypervisor",
  );
});

test("VMs whose names are not valid ids are left out", async (t) => {
  const inventory = createInventory({ ...settings, templates: [], match: ["*"] });
  const domains = [domainOf("a b"), domainOf("-x"), domainOf("ok")];
  t.match(
    inventory.of({ domains, pools: [], gpus: [] }).map(({ id }) => id),
    ["ok"],
  );
});

test("a VM is running, off or unknown", async (t) => {
  const inventory = createInventory({ ...settings, templates: [] });
  const expected: Readonly<Record<DomainState, string>> = {
    running: "running",
    paused: "running",
    shuttingDown: "running",
    suspended: "running",
    shutOff: "off",
    crashed: "off",
    unknown: "unknown",
  };
  for (const [state, desired] of Object.entries(expected)) {
    const domains = [domainOf("old-1", { state: state as DomainState })];
    const [found] = inventory.of({ domains, pools: [], gpus: [] });
    t.equal(found?.state, desired, state);
    t.equal(found?.reason !== "", desired === "unknown", state);
  }
});

test("an unreadable VM is unknown, with that as the reason", async (t) => {
  const inventory = createInventory(settings);
  const unreadable = { state: "unknown", unreadableBecause: "its XML is broken" } as const;
  const domains = [domainOf("hv-1", unreadable), marked("hv-2", unreadable), domainOf("old-1", unreadable)];
  const unknown = { state: "unknown", reason: "its XML is broken" };
  t.match(inventory.of({ domains: [...domains, marked("hv-3")], pools: [], gpus: [] }), [
    { id: "hv-1", ...unknown, threadCount: 4 },
    { id: "hv-2", ...unknown, madeBy: "op" },
    { id: "hv-3", state: "running", reason: "" },
    { id: "old-1", ...unknown },
  ]);
});

test("a VM has the storage capability if it uses the shared pool, of any kind", async (t) => {
  const sharedStorage = { volumeGroup: "vg-a", directory: "/srv/pool/", libvirtPool: "shared" };
  const inventory = createInventory({ ...settings, templates: [], sharedStorage });
  const has = (path: string) => {
    const filesystems = [{ target: "x", source: { kind: "path", path } as const }];
    return inventory.of({ domains: [domainOf("old-1", { filesystems })], pools: [], gpus: [] })[0]
      ?.capabilities;
  };
  for (const path of ["/dev/vg-a/x", "/dev/mapper/vg--a-x", "/srv/pool/x", "/srv/pool"]) {
    t.same(has(path), ["storage"], path);
  }
  for (const path of [
    "/dev/vg-ab/x",
    "/dev/mapper/vg--a--b-x",
    "/dev/mapper/vg-a-x",
    "/srv/pools/x",
    "/srv",
  ]) {
    t.same(has(path), [], path);
  }
  const volume = { target: "vda", source: { kind: "volume", pool: "shared", volume: "x" } } as const;
  t.same(
    inventory.of({ domains: [domainOf("old-1", { disks: [volume] })], pools: [], gpus: [] })[0]?.capabilities,
    ["storage"],
  );
  const templates = [
    { id: "a", ...template, disk: { pool: "shared", sizeGib: 1 } },
    { id: "b", ...template },
  ];
  const possible = createInventory({ ...settings, templates, sharedStorage }).of({
    domains: [],
    pools: [],
    gpus: [],
  });
  t.same(
    possible.map(({ capabilities }) => capabilities),
    [["storage"], []],
  );
});

test("GPUs are listed with brand and model, even for templates without a VM", async (t) => {
  const templates = [{ id: "a", ...template, gpus: [gpu.pciAddress] }];
  const inventory = createInventory({ ...settings, templates });
  const domains = [domainOf("old-1", { gpus: [gpu] })];
  const named = [{ brand: "Maker", model: "Model" }];
  t.match(inventory.of({ domains, pools: [], gpus: [gpu] }), [
    { id: "a", capabilities: ["gpu"], gpus: named },
    { id: "old-1", capabilities: ["gpu"], gpus: named },
  ]);
  t.match(inventory.of({ domains: [], pools: [], gpus: [] })[0]?.gpus, [{ brand: "", model: "" }]);
});

test("while libvirt cannot be read, all known ids are listed with unknown states", async (t) => {
  const inventory = createInventory(settings);
  const known = inventory.of({ domains: [domainOf("old-1"), marked("zz")], pools: [], gpus: [] });
  const unreadable = inventory.unreadable(known, "it is stopped");
  t.same(
    unreadable.map(({ id }) => id),
    known.map(({ id }) => id),
  );
  t.ok(unreadable.every(({ state, reason }) => state === "unknown" && reason === "it is stopped"));
  t.match(unreadable.at(-1), { id: "zz", threadCount: 2, memoryMib: 4096 });
  t.same(
    inventory.unreadable([], "never seen").map(({ id }) => id),
    ["hv-1", "hv-2", "hv-3"],
  );
});
