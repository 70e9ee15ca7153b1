import { test } from "tap";
import { createLvmSandbox } from "../../../adapters/lvm/sandbox.ts";
import { reasonOf } from "../host/reason-of.ts";
import { testLvmContract } from "./contract.ts";
import { testDeviceContract } from "./device-contract.ts";
import { testThinContract } from "./thin-contract.ts";

const mebibyte = 1n << 20n;

testLvmContract("sandbox", async () => ({
  lvm: createLvmSandbox({ volumeGroups: [{ name: "vg-test", sizeBytes: 50n * 4n * mebibyte + 1n }] }),
  volumeGroupName: "vg-test",
  extentCount: 50,
  activates: true,
}));

testDeviceContract("sandbox", async () => {
  const sizeBytes = 50n * 4n * mebibyte + mebibyte;
  const spares = ["/dev/sandbox/a", "/dev/sandbox/b", "/dev/sandbox/c"];
  return {
    lvm: createLvmSandbox({
      volumeGroups: [{ name: "vg-test", sizeBytes: 50n * 4n * mebibyte }],
      spares: [
        ...spares.slice(0, 2).map((path) => ({ path, sizeBytes })),
        { path: "/dev/sandbox/c", sizeBytes, obstacle: "it contains ext4" },
      ],
    }),
    volumeGroupName: "vg-test",
    spares,
    activates: true,
  };
});

testThinContract("sandbox", async () => {
  const pool = { name: "pool", sizeBytes: 20n * 4n * mebibyte, thinPool: true };
  return {
    lvm: createLvmSandbox({
      volumeGroups: [{ name: "vg-test", sizeBytes: 50n * 4n * mebibyte, volumes: [pool] }],
    }),
    volumeGroupName: "vg-test",
    thinPoolName: "pool",
  };
});

test("sandbox: starts with example volumes and several GiB free, the same every time", async (t) => {
  const { value } = await createLvmSandbox().read();
  t.strictSame(
    value.volumeGroups.map(({ name }) => name),
    ["sandbox-vg"],
  );
  t.ok((value.volumeGroups[0]?.freeBytes ?? 0n) >= 5n << 30n);
  t.ok(value.volumes.length >= 2);
  t.ok(value.volumes.every(({ uuid }) => uuid.startsWith("sandbox-")));
  t.strictSame((await createLvmSandbox().read()).value, value);
});

test("sandbox: open volumes, thin pools and snapshot origins cannot be removed", async (t) => {
  const lvm = createLvmSandbox({
    volumeGroups: [
      {
        name: "vg0",
        sizeBytes: 100n * 4n * mebibyte,
        volumes: [
          { name: "open", sizeBytes: 4n * mebibyte, open: true },
          { name: "origin", sizeBytes: 4n * mebibyte },
          { name: "snap", sizeBytes: 4n * mebibyte, snapshotOf: "origin" },
          { name: "pool", sizeBytes: 40n * mebibyte, thinPool: true },
        ],
      },
    ],
  });
  const at = (name: string) => ({ volumeGroupName: "vg0", name });
  t.equal(await reasonOf(lvm.run({ kind: "deactivate", ...at("open") })), "VOLUME_IN_USE");
  t.equal(await reasonOf(lvm.run({ kind: "remove", ...at("open") })), "VOLUME_IN_USE");
  await lvm.run({ kind: "deactivate", ...at("origin") });
  t.equal(await reasonOf(lvm.run({ kind: "remove", ...at("origin") })), "VOLUME_PROTECTED");
  t.equal(await reasonOf(lvm.run({ kind: "remove", ...at("pool") })), "VOLUME_PROTECTED");

  const freeBefore = (await lvm.read()).value.volumeGroups[0]?.freeBytes;
  await lvm.run({ kind: "create", ...at("thin"), sizeBytes: 1n << 40n, tags: [], thinPoolName: "pool" });
  const { value } = await lvm.read();
  t.match(value.volumes.at(-1), {
    name: "thin",
    kind: "thinVolume",
    thinPoolName: "pool",
    sizeBytes: 1n << 40n,
  });
  t.equal(value.volumeGroups[0]?.freeBytes, freeBefore, "a thin volume uses no space of the group");
  await lvm.close();
});
