import { type Test, test } from "tap";
import { openSandboxHypervisors } from "../../../../../server/domains/hypervisors/system/open-sandbox.ts";
import { createWorldUnderTest } from "../../../sandbox/demo-world-under-test.ts";

async function openWorld(t: Test, options: Parameters<typeof createWorldUnderTest>[0] = {}) {
  const world = createWorldUnderTest(options);
  const { libvirt, settings, close } = openSandboxHypervisors(world);
  t.teardown(close);
  const read = async () => (await libvirt.read()).value.domains;
  const ids = new Set([...settings.templates.map(({ id }) => id), ...(await read()).map(({ name }) => name)]);
  return { world, libvirt, read, ids };
}

test("a VM fails to start while another one uses its GPU, and starts once that one is off", async (t) => {
  const { world, libvirt, read } = await openWorld(t);
  const stepOf = async (kind: "start" | "powerOff", name: string) => {
    const { uuid = "" } = (await read()).find((domain) => domain.name === name) ?? {};
    await Promise.all([libvirt.run({ kind, name, uuid }), world.clock.step(1_000)]);
  };
  await t.rejects(stepOf("start", "cad-desktops-2"), {
    reason: "DOMAIN_STATE",
    message: "PCI device 0000:42:00.0 is in use by the VM cad-desktops-1",
  });
  await stepOf("powerOff", "cad-desktops-1");
  await stepOf("start", "cad-desktops-2");
  t.match(
    (await read()).filter(({ name }) => name.startsWith("cad-")),
    [{ state: "shutOff" }, { state: "running" }],
  );
});

test("the number of VMs is as requested, and the same seed gives the same VMs", async (t) => {
  const { ids, read } = await openWorld(t);
  t.equal(ids.size, 12);
  t.equal((await openWorld(t, { sizes: { vms: 100 } })).ids.size, 100);
  t.same(await (await openWorld(t)).read(), await read());
  t.notSame(await (await openWorld(t, { seed: 2 })).read(), await read());
});
