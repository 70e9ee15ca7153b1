import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Test, test } from "tap";
import { parse } from "yaml";
import {
  clientsOf,
  followStream,
  type LabClients,
  labTemplate,
  listedStates,
  makeHypervisorsLab,
  readSeed,
  wires,
} from "./hypervisors-lab.ts";
import { libvirtSkipReason } from "./libvirt.ts";

const skip = libvirtSkipReason();
const timeout = 300_000;

const ids = Array.from({ length: 20 }, (_, at) => `bm-${String(at + 1).padStart(2, "0")}`);

test("twenty hypervisors at once, over every protocol", { skip, timeout }, async (t) => {
  const lab = await makeHypervisorsLab(t, {
    templates: [labTemplate("bm-{01..20}")],
    destroy: { deleteVolumes: false },
  });
  const gateway = await lab.start();
  const names = Object.keys(wires);
  const clients = ids.map((_, at) => clientsOf(gateway, names[at % names.length]));
  const [first = clientsOf(gateway)] = clients;
  t.same(await listedStates(first), Object.fromEntries(ids.map((id) => [id, "AVAILABLE_TO_CREATE"])));

  const all = (verb: "create" | "destroy") =>
    Promise.all(clients.map((one, at) => followStream(one, verb, ids[at] ?? "")));
  const beganAtMs = performance.now();
  const created = await all("create");
  t.comment(`20 created at once in ${((performance.now() - beganAtMs) / 1000).toFixed(1)} s`);
  for (const [at, { states, messages, operationId }] of created.entries()) {
    const id = ids[at] ?? "";
    const wire = `${id} over ${names[at % names.length]}`;
    t.match(states.join(" "), /^(SCHEDULED )*(ACTIVE )+COMPLETED$/, wire);
    t.equal(messages.at(-1), `${id} was created`, wire);
    t.ok(messages.includes("creating the disk (1 GiB)"), wire);
    const xml = await lab.daemon.virsh("dumpxml", id);
    t.match(xml, `<entry name='serial'>${id}</entry>`, `${wire}: the serial number in SMBIOS`);
    t.match(xml, "<smbios mode='sysinfo'/>", wire);
    t.match(xml, operationId, `${wire}: the operation's mark`);
    const seed = await readSeed(join(lab.poolDirectory, `hypervisor-${id}-seed.iso`));
    t.same(parse(seed.metaData), { "instance-id": operationId, "local-hostname": id }, `${wire}: its seed`);
    t.match(parse(seed.userData), { hostname: id }, `${wire}: its seed`);
  }
  const expected = ids.flatMap((id) => [`hypervisor-${id}-seed.iso`, `hypervisor-${id}.qcow2`]).toSorted();
  t.same(await lab.files(), expected, "all volumes exist");
  t.same(await lab.domains("running"), ids);
  t.same(await listedStates(first), Object.fromEntries(ids.map((id) => [id, "AVAILABLE_TO_DESTROY"])));

  await t.test("a power-off from a shell is listed and published at once", async (t) => {
    const lates: number[] = [];
    for (const id of ids.slice(0, 5)) {
      const reported = await awaitEvent(t, first, `hypervisors/${id}`);
      const listed = untilListed(first, id, "AVAILABLE_TO_CREATE");
      await lab.daemon.virsh("destroy", id);
      const endedAtMs = performance.now();
      const [listedAtMs, event] = await Promise.all([listed, reported.first]);
      t.equal(event.type, "hypervisor.stopped");
      t.equal(event.isOutside, true, "caused from outside");
      lates.push(listedAtMs - endedAtMs, event.atMs - endedAtMs);
    }
    t.comment(
      `after virsh had ended: ${lates.map((ms) => ms.toFixed(0)).join(", ")} ms (listed, published; five times)`,
    );
    t.ok(Math.max(...lates) < 20_000, "long before the next read without an event");
  });

  await t.test("1,000 lists make no libvirt call", async (t) => {
    // The pools' figures are refreshed every ten seconds, independently of lists; tries to hit a time between two refreshes.
    for (let attempt = 1; ; attempt += 1) {
      const before = lab.gate.calls.length;
      const beganAtMs = performance.now();
      for (let count = 0; count < 1_000; count += 100) {
        await Promise.all(Array.from({ length: 100 }, (_, at) => listedStates(clients[at % 20] ?? first)));
      }
      const called = lab.gate.calls.slice(before);
      t.comment(`1,000 lists in ${Math.round(performance.now() - beganAtMs)} ms: calls [${called}]`);
      if (called.length === 0) {
        return t.pass("no call");
      }
      if (attempt === 5) {
        return t.fail("every attempt made a call");
      }
    }
  });

  await t.test("a hypervisor that is off is only started again", async (t) => {
    const [id = ""] = ids;
    const { states } = await followStream(first, "create", id);
    t.equal(states.at(-1), "COMPLETED");
    t.same(await lab.files(), expected);
  });

  // The other four stay off, and their VMs belong to hostplane.
  await Promise.all(ids.slice(1, 5).map((id) => followStream(first, "create", id)));
  const destroyed = await all("destroy");
  for (const [at, { states, messages }] of destroyed.entries()) {
    t.match(states.join(" "), /^(SCHEDULED )*(ACTIVE )+COMPLETED$/);
    t.equal(messages.at(-1), `${ids[at]} was destroyed`);
  }
  t.same(await lab.domains("all"), []);
  t.same(await lab.machines(), []);
  t.same(await lab.files(), expected, "volumes are kept");
  t.same(await listedStates(first), Object.fromEntries(ids.map((id) => [id, "AVAILABLE_TO_CREATE"])));

  await t.test("a kept disk is used again, and mentioned", async (t) => {
    const { messages } = await followStream(first, "create", "bm-07");
    t.equal(messages.at(-1), "bm-07 was created with the disk that was kept");
    t.same(await lab.files(), expected);
  });
});

/** Polls until the hypervisor has the state; returns the time. */
async function untilListed(clients: LabClients, id: string, state: string): Promise<number> {
  while ((await listedStates(clients))[id] !== state) {
    await sleep(5);
  }
  return performance.now();
}

/** Waits for the first event of a resource after now. Resolves once the stream has started. */
async function awaitEvent(t: Test, { events }: LabClients, resource: string) {
  const leave = new AbortController();
  t.teardown(() => leave.abort());
  const stream = events.subscribe(
    { topics: ["hypervisors"], resources: [resource] },
    { signal: leave.signal },
  );
  const messages = stream[Symbol.asyncIterator]();
  await messages.next();
  const first = async () => {
    for (;;) {
      const { value } = await messages.next();
      const { message } = value ?? {};
      if (message?.case === "event") {
        const { type, detail } = message.value;
        const isOutside = detail.case === "hypervisor" && detail.value.outside;
        return { type, isOutside, atMs: performance.now() };
      }
    }
  };
  return { first: first() };
}

const xmlOfOther = (name: string) =>
  `<domain type='qemu'><name>${name}</name><uuid>${randomUUID()}</uuid><memory unit='MiB'>64</memory><vcpu>2</vcpu>
    <os><type arch='x86_64'>hvm</type></os></domain>`;

test("no id disappears when libvirt is gone", { skip, timeout }, async (t) => {
  const lab = await makeHypervisorsLab(t, {
    templates: [labTemplate("bm-{1..3}")],
    match: ["old-*"],
    destroy: { deleteVolumes: true },
  });
  const files = t.testdir({ "other.xml": xmlOfOther("old-1") });
  await lab.daemon.virsh("define", join(files, "other.xml"));
  let gateway = await lab.start();
  await followStream(clientsOf(gateway), "create", "bm-2");
  const known = {
    "bm-1": "AVAILABLE_TO_CREATE",
    "bm-2": "AVAILABLE_TO_DESTROY",
    "bm-3": "AVAILABLE_TO_CREATE",
    "old-1": "AVAILABLE_TO_CREATE",
  };
  const unknown = Object.fromEntries(Object.keys(known).map((id) => [id, "UNKNOWN"]));
  t.same(await listedStates(clientsOf(gateway)), known);

  let isOver = false;
  const seen = new Set<string>();
  const watching = (async () => {
    const clients = clientsOf(gateway);
    while (!isOver) {
      seen.add(JSON.stringify(await listedStates(clients)));
      await sleep(2);
    }
  })();
  const until = async (expected: Readonly<Record<string, string>>) => {
    while (JSON.stringify(await listedStates(clientsOf(gateway))) !== JSON.stringify(expected)) {
      await sleep(20);
    }
  };
  await lab.daemon.kill();
  await until(unknown);
  await lab.daemon.start();
  await until(known);
  await lab.daemon.stop();
  await until(unknown);
  await lab.daemon.start();
  await until(known);
  await lab.daemon.stop();
  await lab.daemon.start();
  await until(known);
  isOver = true;
  await watching;
  t.same([...seen].toSorted(), [known, unknown].map((one) => JSON.stringify(one)).toSorted());

  // Nor for a gateway that has not connected to libvirt yet.
  await lab.daemon.stop();
  await gateway.kill("SIGTERM");
  gateway = await lab.start();
  t.same(await listedStates(clientsOf(gateway)), unknown, "a gateway that starts while libvirt is gone");
  await lab.daemon.start();
  await until(known);
  const { states } = await followStream(clientsOf(gateway), "destroy", "bm-2");
  t.equal(states.at(-1), "COMPLETED");
  t.same(await lab.files(), [], "volumes are deleted if configured");
  t.same(await lab.domains("all"), ["old-1"]);
});
