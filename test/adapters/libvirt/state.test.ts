import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import type { Reason } from "../../../adapters/host/define-reasons.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { libvirtReasons } from "../../../adapters/libvirt/reasons.ts";
import type { LibvirtClient } from "../../../adapters/libvirt/rpc/client.ts";
import { createStateReader } from "../../../adapters/libvirt/state.ts";
import { reasonOf } from "../host/reason-of.ts";

const sample = (name: string) => readFileSync(join(import.meta.dirname, "samples", name), "utf8");
const { signal } = new AbortController();

const created = { name: "bm-1", uuid: "11111111-2222-4333-8444-555555555555", id: -1 };
const foreign = { name: "bm-7 & co", uuid: "21111111-2222-4333-8444-555555555555", id: -1 };
const pool = { name: "default", uuid: "f746183f-f7cc-49b9-8b3b-61b37c765e29" };
const madeWithGpu = sample("domain-made.xml").replace("bus='0x00' slot='0x02'", "bus='0x41' slot='0x00'");

const idOf = ({ name, uuid }: typeof created) => ({ name, uuid });

type Answer = unknown | InfraError;

/**
 * Creates a client with the given replies, since no host with GPUs was available; test/lab covers a real daemon.
 * `calls` lists the calls, e.g. `domainGetXmlDesc bm-1`.
 */
function clientWith(answers: Record<string, Answer>) {
  const calls: string[] = [];
  const call = async (name: string, args: Readonly<Record<string, unknown>>): Promise<unknown> => {
    const { domain, pool: ofPool, name: ofName } = args as Record<string, { name?: string } & string>;
    const about = domain?.name ?? ofPool?.name ?? ofName;
    const key = about === undefined ? name : `${name} ${about}`;
    calls.push(key);
    const answer = answers[key] ?? answers[name];
    if (answer instanceof InfraError) {
      throw answer;
    }
    return answer;
  };
  const client = { call, ready: async () => {} } as unknown as LibvirtClient;
  return { client, calls };
}

const answers = (): Record<string, Answer> => ({
  connectListAllDomains: { domains: [foreign, created], count: 2 },
  "domainGetXmlDesc bm-1": { xml: madeWithGpu },
  "domainGetXmlDesc bm-7 & co": { xml: sample("domain-foreign.xml") },
  domainGetState: { state: 5, reason: 0 },
  domainIsPersistent: { persistent: true },
  connectListAllStoragePools: { pools: [pool], count: 1 },
  storagePoolGetXmlDesc: { xml: sample("pool-dir.xml") },
  storagePoolIsActive: { active: true },
  connectListAllNodeDevices: {
    devices: [{ name: "pci_0000_00_03_0" }, { name: "pci_0000_41_00_0" }],
    count: 2,
  },
  "nodeDeviceGetXmlDesc pci_0000_00_03_0": { xml: sample("node-device-nic.xml") },
  "nodeDeviceGetXmlDesc pci_0000_41_00_0": { xml: sample("node-device-gpu.xml") },
});

const gone = (reason: Reason) => new InfraError(reason, "gone");

test("a VM has the GPUs that are passed through to it, by name", async (t) => {
  const { client } = clientWith(answers());
  const { domains, pools, gpus } = await createStateReader(client).load(signal);
  t.strictSame(
    domains.map(({ name }) => name),
    ["bm-1", "bm-7 & co"],
  );
  const gpu = { pciAddress: "0000:41:00.0", brand: "NVIDIA Corporation", model: "GA100 [A100 PCIe 80GB]" };
  t.strictSame(
    domains.map((domain) => domain.gpus),
    [[gpu], []],
  );
  t.strictSame(gpus, [gpu]);
  t.match(pools, [{ name: "default", isActive: true, freeBytes: 251_754_627_072n }]);
  t.notOk(domains.some((domain) => "hostDevices" in domain));
});

test("an event causes only the object that it names to be read again", async (t) => {
  const given = answers();
  const { client, calls } = clientWith(given);
  const state = createStateReader(client);
  await state.load(signal);
  calls.splice(0);
  await state.load(signal);
  t.strictSame(calls, [], "nothing has happened");

  given.domainGetState = { state: 1, reason: 0 };
  t.ok(state.touchByEvent({ kind: "domainLifecycle", domain: created, event: "started", detail: 0 }));
  const { domains } = await state.load(signal);
  t.strictSame(
    domains.map((domain) => domain.state),
    ["running", "shutOff"],
  );
  t.strictSame(calls.splice(0).toSorted(), [
    "domainGetState bm-1",
    "domainGetXmlDesc bm-1",
    "domainIsPersistent bm-1",
  ]);

  t.ok(state.touchByEvent({ kind: "storagePoolRefreshed", pool }));
  await state.load(signal);
  t.strictSame(calls.splice(0).toSorted(), ["storagePoolGetXmlDesc default", "storagePoolIsActive default"]);

  const device = { name: "pci_0000_41_00_0" };
  given["nodeDeviceGetXmlDesc pci_0000_41_00_0"] = gone(libvirtReasons.NODE_DEVICE_NOT_FOUND);
  t.ok(state.touchByEvent({ kind: "nodeDeviceLifecycle", device, event: "deleted" }));
  t.strictSame((await state.load(signal)).gpus, []);
  t.strictSame(calls.splice(0), ["nodeDeviceGetXmlDesc pci_0000_41_00_0"]);

  t.notOk(
    state.touchByEvent({ kind: "nodeDeviceLifecycle", device: { name: "net_vnet0" }, event: "created" }),
  );
  t.notOk(state.touchByEvent({ kind: "domainAgent", domain: created, isConnected: true }));
});

test("removed objects disappear", async (t) => {
  const given = answers();
  const { client } = clientWith(given);
  const state = createStateReader(client);
  await state.load(signal);
  given["domainGetXmlDesc bm-1"] = gone(libvirtReasons.DOMAIN_NOT_FOUND);
  given.storagePoolIsActive = gone(libvirtReasons.STORAGE_POOL_NOT_FOUND);
  state.touchByEvent({ kind: "domainLifecycle", domain: created, event: "undefined", detail: 0 });
  state.touchByEvent({ kind: "storagePoolLifecycle", pool, event: "undefined" });
  const { domains, pools } = await state.load(signal);
  t.strictSame(
    domains.map(({ name }) => name),
    ["bm-7 & co"],
  );
  t.strictSame(pools, []);
  given.connectListAllDomains = { domains: [], count: 0 };
  state.touchAll();
  t.strictSame((await state.load(signal)).domains, [], "they disappear after a full list, too");
});

test("the next load retries what could not be read", async (t) => {
  const given = answers();
  const { client } = clientWith(given);
  const state = createStateReader(client);
  given["nodeDeviceGetXmlDesc pci_0000_41_00_0"] = new InfraError(libvirtReasons.LIBVIRT_UNAVAILABLE, "lost");
  t.equal(await reasonOf(state.load(signal)), "LIBVIRT_UNAVAILABLE");
  given["nodeDeviceGetXmlDesc pci_0000_41_00_0"] = { xml: sample("node-device-gpu.xml") };
  t.equal((await state.load(signal)).gpus.length, 1);

  given.domainGetState = new InfraError(libvirtReasons.LIBVIRT_UNAVAILABLE, "lost");
  state.touchDomain(created);
  t.equal(await reasonOf(state.load(signal)), "LIBVIRT_UNAVAILABLE");
  given.domainGetState = { state: 1, reason: 0 };
  t.equal((await state.load(signal)).domains[0]?.state, "running");
});

test("a VM that cannot be read is unknown with the reason, and the others are still read", async (t) => {
  const readable = { xml: madeWithGpu };
  const broken = { xml: madeWithGpu.replace("<vcpu placement='static'>2<", "<vcpu>many<") };
  const refused = new InfraError(libvirtReasons.LIBVIRT_FAILED, "internal error: it is broken");
  const given = answers();
  for (const [answer, because] of [
    [broken, /number of vCPUs/],
    [{ xml: "no XML" }, /not valid XML/],
    [refused, /it is broken/],
  ] as const) {
    const { client } = clientWith(given);
    given["domainGetXmlDesc bm-1"] = answer;
    const state = createStateReader(client);
    const [unseen, other] = (await state.load(signal)).domains;
    t.match(unseen, {
      ...idOf(created),
      state: "unknown",
      unreadableBecause: because,
      vcpuCount: 0,
      disks: [],
    });
    t.match(other, { name: foreign.name, state: "shutOff", vcpuCount: 4 });
    t.notOk(other !== undefined && "unreadableBecause" in other);

    given["domainGetXmlDesc bm-1"] = readable;
    state.touchAll();
    const [seen] = (await state.load(signal)).domains;
    t.match(seen, { ...idOf(created), state: "shutOff", vcpuCount: 2, mark: { operationId: "op-1" } });
    t.notOk(seen !== undefined && "unreadableBecause" in seen);

    given["domainGetXmlDesc bm-1"] = answer;
    state.touchDomain(created);
    const [lost] = (await state.load(signal)).domains;
    t.strictSame(lost, { ...seen, state: "unknown", unreadableBecause: lost?.unreadableBecause });
    t.match(lost?.unreadableBecause, because);
  }
});

test("a driver without storage or devices has none of them", async (t) => {
  const unsupported = new InfraError(libvirtReasons.LIBVIRT_FAILED, "no", { metadata: { libvirtCode: "3" } });
  const given = {
    ...answers(),
    connectListAllStoragePools: unsupported,
    connectListAllNodeDevices: unsupported,
  };
  const { pools, gpus, domains } = await createStateReader(clientWith(given).client).load(signal);
  t.strictSame([pools.length, gpus.length, domains.length], [0, 0, 2]);
});

test("the sizes of an inactive pool are 0", async (t) => {
  const { client } = clientWith({ ...answers(), storagePoolIsActive: { active: false } });
  const { pools } = await createStateReader(client).load(signal);
  t.match(pools, [{ isActive: false, capacityBytes: 0n, freeBytes: 0n, targetPath: "/srv/pool" }]);
});
