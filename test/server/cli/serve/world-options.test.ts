import { test } from "tap";
import { demoWorldFrom } from "../../../../server/cli/serve/world-options.ts";

test("a sandbox has the demo world with default sizes, unless it is to be quiet", async (t) => {
  t.match(demoWorldFrom({ sandbox: true }), { sizes: { volumes: 60, vms: 12, pods: 20, osds: 6 } });
  t.equal(demoWorldFrom({ sandbox: true, sandboxQuiet: true }), undefined);
  t.equal(demoWorldFrom({}), undefined);
});

test("the seed decides", async (t) => {
  const first = (seed: string) => demoWorldFrom({ sandbox: true, sandboxSeed: seed })?.random.next();
  t.equal(first("7"), first("7"));
  t.not(first("7"), first("8"));
  t.equal(first("1"), demoWorldFrom({ sandbox: true })?.random.next());
});

test("sizes are separated by commas or repeated; the last one of a key counts", async (t) => {
  const sandboxSize = ["volumes=3000,pods=200", "osds=12", "volumes=100"];
  t.same(demoWorldFrom({ sandbox: true, sandboxSize })?.sizes, {
    volumes: 100,
    vms: 12,
    pods: 200,
    osds: 12,
  });
});

const known = "volumes from 10 to 10000, vms from 8 to 1000, pods from 3 to 2000, osds from 3 to 1000";

const mistakes: readonly (readonly [Parameters<typeof demoWorldFrom>[0], string])[] = [
  [{ sandboxSize: ["disks=3"] }, `--sandbox-size disks=3: unknown key "disks" (known: ${known})`],
  [{ sandboxSize: [""] }, `--sandbox-size : unknown key "" (known: ${known})`],
  [{ sandboxSize: ["volumes"] }, "--sandbox-size volumes: volumes must be a whole number from 10 to 10000"],
  [
    { sandboxSize: ["pods=20,volumes=10001"] },
    "--sandbox-size volumes=10001: volumes must be a whole number from 10 to 10000",
  ],
  [{ sandboxSize: ["osds=2"] }, "--sandbox-size osds=2: osds must be a whole number from 3 to 1000"],
  [{ sandboxSize: ["vms=1e2"] }, "--sandbox-size vms=1e2: vms must be a whole number from 8 to 1000"],
  [{ sandboxSeed: "-1" }, "--sandbox-seed -1: must be a whole number from 0 to 999999999"],
  [
    { sandboxQuiet: true, sandboxSeed: "1" },
    "--sandbox-seed is about the demo world, which --sandbox-quiet turns off: remove one of them",
  ],
];

for (const [options, message] of mistakes) {
  test(`refused: ${message}`, async (t) => {
    t.throws(() => demoWorldFrom({ sandbox: true, ...options }), { message });
  });
}

test("flags of the sandbox need one", async (t) => {
  t.throws(() => demoWorldFrom({ sandboxSize: ["pods=9"] }), { message: "--sandbox-size needs --sandbox" });
  t.throws(() => demoWorldFrom({ sandboxQuiet: true }), { message: "--sandbox-quiet needs --sandbox" });
});
