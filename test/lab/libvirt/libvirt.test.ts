import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import tap, { type Test, test } from "tap";
import type {
  DomainDefinition,
  LibvirtAdapter,
  LibvirtDomain,
  LibvirtStep,
} from "../../../adapters/libvirt/adapter.ts";
import { createLibvirt, type LibvirtOptions } from "../../../adapters/libvirt/libvirt.ts";
import { reasonOf } from "../../adapters/host/reason-of.ts";
import { type ContractSubject, testLibvirtContract } from "../../adapters/libvirt/contract.ts";
import { libvirtSkipReason, type StartedLibvirt, startLibvirtDaemon } from "./libvirt.ts";

const skip = libvirtSkipReason();

const volumeXml = `<volume><name>base.qcow2</name><capacity unit='MiB'>100</capacity><allocation>0</allocation>
  <target><format type='qcow2'/></target></volume>`;
const networkXml = "<network><name>lab-net</name><bridge name='hplab0'/></network>";

interface Lab extends ContractSubject {
  readonly daemon: StartedLibvirt;
}

/** The daemon of all tests: a new one needs seconds for its first VM, to probe QEMU's capabilities. */
let shared: Promise<StartedLibvirt> | undefined;

async function startShared(): Promise<StartedLibvirt> {
  const daemon = await startLibvirtDaemon();
  tap.teardown(daemon.destroy);
  const files = tap.testdir({ "network.xml": networkXml });
  await daemon.virsh("net-define", join(files, "network.xml"));
  return daemon;
}

/** An empty pool for the test, and no VMs at its start and end. */
async function makeLab(t: Test, options: Partial<LibvirtOptions> = {}): Promise<Lab> {
  shared ??= startShared();
  const daemon = await shared;
  const pool = `lab-${process.hrtime.bigint()}`;
  const files = t.testdir({ "volume.xml": volumeXml });
  await daemon.virsh("pool-create-as", pool, "dir", "--build", "--target", join(daemon.poolsDirectory, pool));
  await daemon.virsh("vol-create", pool, join(files, "volume.xml"));
  const listed = await daemon.virsh("nodedev-list", "--cap", "pci");
  const [, address = ""] = /pci_(\S+)/.exec(listed) ?? [];
  const libvirt = adapterOf(daemon, options);
  t.teardown(async () => {
    await libvirt.close();
    await removeDomains(daemon);
    await daemon.virsh("pool-destroy", pool);
  });
  return {
    daemon,
    libvirt,
    pool,
    backingVolume: "base.qcow2",
    network: "lab-net",
    hostDevice: address.replace(/^(\w+)_(\w+)_(\w+)_(\w+)$/, "$1:$2:$3.$4"),
  };
}

function adapterOf({ uri }: StartedLibvirt, options: Partial<LibvirtOptions> = {}): LibvirtAdapter {
  return createLibvirt({ uri, seedTool: ["xorrisofs"], ...options });
}

async function removeDomains(daemon: StartedLibvirt): Promise<void> {
  for (const [list, command] of [
    ["--state-running", "destroy"],
    ["--all", "undefine"],
  ] as const) {
    const names = (await daemon.virsh("list", list, "--name")).split("\n").filter((name) => name !== "");
    for (const name of names) {
      await daemon.virsh(command, name);
    }
  }
}

if (skip !== false) {
  test("libvirt", { skip }, async () => {});
} else {
  testLibvirtContract("libvirt", makeLab);

  test("a power-off with virsh is noticed", async (t) => {
    const { daemon, libvirt } = await makeRunning(t);
    const seen = Promise.withResolvers<number>();
    t.teardown(
      libvirt.subscribe(async () => {
        if ((await stateOf(libvirt, "bm-1")) === "shutOff") {
          seen.resolve(performance.now());
        }
      }),
    );
    await daemon.virsh("destroy", "bm-1");
    const endedAtMs = performance.now();
    const lateMs = (await seen.promise) - endedAtMs;
    t.comment(`seen ${lateMs.toFixed(1)} ms after virsh had ended`);
  });

  test("outside changes of VMs and pools are noticed through events", async (t) => {
    const { daemon, libvirt } = await makeRunning(t);
    const until = watch(t, libvirt);
    const virsh = daemon.virsh;
    await virsh("suspend", "bm-1");
    await until(async () => (await stateOf(libvirt, "bm-1")) === "paused");
    await virsh("resume", "bm-1");
    await until(async () => (await stateOf(libvirt, "bm-1")) === "running");
    await virsh("metadata", "bm-1", "urn:hostplane:libvirt:1", "--remove", "--config", "--live");
    await until(async () => (await domainOf(libvirt, "bm-1"))?.mark === undefined);
    await virsh("destroy", "bm-1");
    await virsh("domrename", "bm-1", "bm-2");
    await until(async () => (await stateOf(libvirt, "bm-2")) === "shutOff");
    t.equal(await stateOf(libvirt, "bm-1"), undefined);
    await virsh("undefine", "bm-2");
    await until(async () => (await stateOf(libvirt, "bm-2")) === undefined);
    await virsh(
      "pool-create-as",
      "other",
      "dir",
      "--build",
      "--target",
      join(daemon.poolsDirectory, "other"),
    );
    await until(async () => (await libvirt.read()).value.pools.some(({ name }) => name === "other"));
    await virsh("pool-destroy", "other");
    await until(async () => !(await libvirt.read()).value.pools.some(({ name }) => name === "other"));
  });

  test("changes without an event are noticed by the next refresh", async (t) => {
    const { daemon, libvirt, pool } = await makeLab(t, { poolsMs: 50, resyncMs: 100 });
    await define(libvirt, pool, "bm-1");
    const until = watch(t, libvirt);
    await daemon.virsh("setvcpus", "bm-1", "3", "--maximum", "--config");
    await until(async () => (await domainOf(libvirt, "bm-1"))?.vcpuCount === 3);
    t.equal((await domainOf(libvirt, "bm-1"))?.vcpuCount, 3);
  });

  test("a kill of the daemon is reported, and its state is available again when it is back", async (t) => {
    const { daemon, libvirt } = await makeRunning(t);
    const before = (await libvirt.read()).value;
    const until = watch(t, libvirt);
    const wrong: unknown[] = [];
    let isOver = false;
    // Constant readers get the state before, the state after, or LIBVIRT_UNAVAILABLE.
    const reading = (async () => {
      while (!isOver) {
        const reason = await reasonOf(
          libvirt.read().then(({ value }) => {
            if (!value.domains.some(({ name }) => name === "bm-1")) {
              wrong.push(value);
            }
          }),
        );
        if (reason !== undefined && reason !== "LIBVIRT_UNAVAILABLE") {
          wrong.push(reason);
        }
        await new Promise(setImmediate);
      }
    })();
    for (const times of [1, 2, 3]) {
      await daemon.kill();
      await until(async () => (await reasonOf(libvirt.read())) === "LIBVIRT_UNAVAILABLE");
      const step = { kind: "start", name: "bm-1", uuid: before.domains[0]?.uuid ?? "" } as const;
      t.equal(await reasonOf(libvirt.run(step)), "LIBVIRT_UNAVAILABLE", `kill ${times}`);
      t.equal((await libvirt.inspect()).version, undefined);
      await daemon.start();
      await until(async () => (await reasonOf(libvirt.read())) === undefined);
      t.strictSame((await libvirt.read()).value.domains, before.domains);
    }
    isOver = true;
    await reading;
    t.strictSame(wrong, []);
  });

  test("a step that is cut off by a kill of the daemon can be repeated", async (t) => {
    const { daemon, libvirt, pool } = await makeLab(t);
    await libvirt.close();
    const uuid = randomUUID();
    const volume = { pool, name: "bm-1.qcow2" };
    const seed = { kind: "writeSeed", pool, name: "seed.iso", hostname: "bm-1", instanceId: "op" } as const;
    const meant = { name: "bm-1", uuid } as const;
    const create = { kind: "createVolume", ...volume, format: "qcow2", sizeBytes: 100n << 20n } as const;
    // Each with the reason that it may return if it was done despite the kill.
    const steps: readonly [LibvirtStep, string?][] = [
      [{ ...create, backingVolume: "base.qcow2" }, "STORAGE_VOLUME_EXISTS"],
      [seed],
      [{ kind: "define", domain: definitionOf(pool, "bm-1", uuid) }],
      [{ kind: "start", ...meant }, "DOMAIN_STATE"],
      [{ kind: "powerOff", ...meant }, "DOMAIN_STATE"],
      [{ kind: "undefine", ...meant }, "DOMAIN_NOT_FOUND"],
      [{ kind: "deleteVolume", ...volume }, "STORAGE_VOLUME_NOT_FOUND"],
    ];
    for (const [step, created] of steps) {
      // A new adapter each time, because one whose connections never last waits longer and longer before it reconnects.
      const adapter = adapterOf(daemon);
      await adapter.read();
      const delayMs = Math.random() * (step.kind === "start" || step.kind === "powerOff" ? 300 : 30);
      const cut = reasonOf(adapter.run(step));
      await sleep(delayMs);
      await daemon.kill();
      const first = await cut;
      await daemon.start();
      const reasons: (string | undefined)[] = [undefined, "LIBVIRT_UNAVAILABLE"];
      t.ok(reasons.includes(first), `${step.kind} cut off after ${delayMs.toFixed(0)} ms: ${first}`);
      await watch(t, adapter)(async () => (await reasonOf(adapter.read())) === undefined);
      const again = await reasonOf(adapter.run(step));
      t.ok(again === undefined || again === created, `${step.kind} repeated: ${again}`);
      await adapter.close();
    }
    const after = adapterOf(daemon);
    t.teardown(after.close);
    t.strictSame((await after.read()).value.domains, []);
    t.strictSame(
      (await after.volumesOf(pool)).map(({ name }) => name),
      ["base.qcow2", "seed.iso"],
    );
  });

  test("an adapter can be closed while it connects", async (t) => {
    const { daemon } = await makeLab(t);
    for (let times = 0; times < 50; times += 1) {
      const libvirt = adapterOf(daemon);
      await sleep(Math.random() * 10);
      await libvirt.close();
      t.equal(await reasonOf(libvirt.read()), "LIBVIRT_UNAVAILABLE");
    }
  });

  test("twenty VMs are created, run and are removed", async (t) => {
    const { daemon, libvirt, pool } = await makeLab(t);
    await libvirt.read();
    t.teardown(libvirt.subscribe(() => {}));
    const names = Array.from({ length: 20 }, (_, at) => `bm-${String(at + 1).padStart(2, "0")}`);
    const uuids = new Map<string, string>();
    await Promise.all(
      names.map(async (name) => {
        const seed = { kind: "writeSeed", pool, name: `${name}-seed.iso`, hostname: name } as const;
        await libvirt.run({ ...seed, instanceId: name });
        uuids.set(name, await define(libvirt, pool, name));
      }),
    );
    t.strictSame(
      (await libvirt.read()).value.domains.map(({ name }) => name),
      names,
    );
    const run = (kind: "powerOff" | "undefine") =>
      Promise.all(names.map((name) => libvirt.run({ kind, name, uuid: uuids.get(name) ?? "" })));
    // One of them is powered off from outside while others start.
    const [last = ""] = names.slice(-1);
    await libvirt.run({ kind: "start", name: last, uuid: uuids.get(last) ?? "" });
    const starting = Promise.all(
      names.slice(0, -1).map((name) => libvirt.run({ kind: "start", name, uuid: uuids.get(name) ?? "" })),
    );
    await daemon.virsh("destroy", last);
    const endedAtMs = performance.now();
    const until = watch(t, libvirt);
    await until(async () => (await stateOf(libvirt, last)) === "shutOff");
    t.comment(
      `seen ${(performance.now() - endedAtMs).toFixed(1)} ms after virsh had ended, beside 19 starts`,
    );
    await starting;
    await libvirt.run({ kind: "start", name: last, uuid: uuids.get(last) ?? "" });
    t.ok((await libvirt.read()).value.domains.every(({ state }) => state === "running"));

    const beganAtMs = performance.now();
    for (let count = 0; count < 1_000; count += 1) {
      await libvirt.read();
    }
    t.comment(`1,000 reads took ${(performance.now() - beganAtMs).toFixed(1)} ms`);

    await run("powerOff");
    t.ok((await libvirt.read()).value.domains.every(({ state }) => state === "shutOff"));
    await run("undefine");
    t.strictSame((await libvirt.read()).value.domains, []);
    t.equal((await libvirt.volumesOf(pool)).length, 41, "their volumes are kept");
  });

  test("a VM without an agent and an address is not ready", async (t) => {
    const { libvirt } = await makeRunning(t);
    const { signal } = new AbortController();
    const beganAtMs = performance.now();
    t.equal(await libvirt.isReady("bm-1", { kind: "agent" }, signal), false, "there is no agent");
    t.equal(await libvirt.isReady("bm-1", { kind: "tcp", port: 22 }, signal), false, "it has no address");
    t.ok(performance.now() - beganAtMs < 5_000);
    await t.rejects(libvirt.isReady("bm-1", { kind: "agent" }, AbortSignal.abort(new Error("left"))), /left/);
  });
}

/** Returns the definition of a VM whose disk is a volume of the same name. */
function definitionOf(pool: string, name: string, uuid: string): DomainDefinition {
  return {
    name,
    uuid,
    vcpuCount: 1,
    memoryBytes: 32n << 20n,
    mark: { hypervisorId: name, operationId: "op", createdVolumes: [] },
    serial: name,
    disks: [{ pool, volume: `${name}.qcow2`, format: "qcow2", device: "disk" }],
    network: undefined,
    hostDevices: [],
  };
}

/** Defines a VM with a disk on top of the base volume; returns its UUID. */
async function define(libvirt: LibvirtAdapter, pool: string, name: string): Promise<string> {
  const uuid = randomUUID();
  const volume = { pool, name: `${name}.qcow2`, format: "qcow2", backingVolume: "base.qcow2" } as const;
  await libvirt.run({ kind: "createVolume", ...volume, sizeBytes: 200n << 20n });
  await libvirt.run({ kind: "define", domain: definitionOf(pool, name, uuid) });
  return uuid;
}

/** Creates a lab in which the VM `bm-1` runs. */
async function makeRunning(t: Test): Promise<Lab> {
  const lab = await makeLab(t);
  const uuid = await define(lab.libvirt, lab.pool, "bm-1");
  await lab.libvirt.run({ kind: "start", name: "bm-1", uuid });
  await lab.libvirt.read();
  return lab;
}

async function domainOf(libvirt: LibvirtAdapter, name: string): Promise<LibvirtDomain | undefined> {
  return (await libvirt.read()).value.domains.find((domain) => domain.name === name);
}

async function stateOf(libvirt: LibvirtAdapter, name: string): Promise<string | undefined> {
  return (await domainOf(libvirt, name))?.state;
}

/** Waits for a condition, which is checked now and after each callback of the adapter. */
function watch(t: Test, libvirt: LibvirtAdapter): (condition: () => Promise<boolean>) => Promise<void> {
  let changed = Promise.withResolvers<void>();
  t.teardown(
    libvirt.subscribe(() => {
      changed.resolve();
      changed = Promise.withResolvers();
    }),
  );
  return async (condition) => {
    for (let next = changed.promise; !(await condition()); next = changed.promise) {
      await next;
    }
  };
}
