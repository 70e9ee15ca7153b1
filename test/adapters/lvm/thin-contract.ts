import { setTimeout as sleep } from "node:timers/promises";
import { type Test, test } from "tap";
import type { LvmAdapter } from "../../../adapters/lvm/adapter.ts";
import { reasonOf } from "../host/reason-of.ts";

/** An adapter with a group that contains only a thin pool. */
export interface ThinContractSubject {
  readonly lvm: LvmAdapter;
  readonly volumeGroupName: string;
  readonly thinPoolName: string;
}

const extent = 4n << 20n;

/** Registers the tests of thin volumes that every LvmAdapter with block devices must pass. */
export function testThinContract(kind: string, makeSubject: (t: Test) => Promise<ThinContractSubject>): void {
  test(`${kind}: thin snapshots`, async (t) => {
    const { lvm, volumeGroupName, thinPoolName } = await makeSubject(t);
    t.teardown(() => lvm.close());
    const run = lvm.run;
    const at = (name: string) => ({ volumeGroupName, name });
    const volume = async (name: string) => (await lvm.read()).value.volumes.find((one) => one.name === name);
    const freeBytes = async () => (await lvm.read()).value.volumeGroups[0]?.freeBytes;
    const snapshot = (name: string, originName: string) =>
      run({ kind: "snapshot", ...at(name), originName, tags: ["a=1"] });

    await run({ kind: "create", ...at("data"), sizeBytes: 10n * extent, tags: [], thinPoolName });
    const freeBefore = await freeBytes();
    await snapshot("snap", "data");
    const snap = await volume("snap");
    t.match(snap, {
      kind: "thinVolume",
      thinPoolName,
      originName: "data",
      sizeBytes: 10n * extent,
      active: true,
    });
    t.strictSame(snap?.tags, ["a=1"]);
    t.strictSame(snap?.devicePaths, [], "its data is on the devices of the pool");
    const { devicePaths, metadataSizeBytes } = (await volume(thinPoolName)) ?? {};
    t.equal(devicePaths?.length, 1);
    t.ok((metadataSizeBytes ?? 0n) > 0n);
    t.ok(snap?.device, "although LVM sets the activation-skip flag on thin snapshots by default");
    t.equal(await freeBytes(), freeBefore, "it uses no space of the group");

    const readOnly = {
      kind: "snapshot",
      ...at("read"),
      originName: "data",
      tags: [],
      readOnly: true,
    } as const;
    await run(readOnly);
    t.match(await volume("read"), { readOnly: true, active: true, attributes: "Vri-a-tz--" });
    await run({ kind: "resize", ...at("read"), sizeBytes: 12n * extent });
    t.match(await volume("read"), { readOnly: true, sizeBytes: 12n * extent }, "it can grow");
    t.match(await volume("data"), { readOnly: false, attributes: "Vwi-a-tz--" });
    await run({ kind: "remove", ...at("read") });

    await run({ kind: "deactivate", ...at("snap") });
    await run({ kind: "activate", ...at("snap") });
    t.equal((await volume("snap"))?.active, true);
    await run({ kind: "deactivate", ...at("data") });
    await snapshot("idle", "data");
    t.equal((await volume("idle"))?.active, true, "it is active although its origin is not");

    await snapshot("second", "snap");
    t.equal((await volume("second"))?.originName, "snap");
    await run({ kind: "remove", ...at("snap") });
    t.match(await volume("second"), { originName: undefined }, "it still exists without its origin");
    t.equal(await reasonOf(snapshot("pooled", thinPoolName)), "TOOL_FAILED");
    const ofPool = { kind: "snapshot", ...at("pooled"), originName: thinPoolName, tags: [] } as const;
    t.equal(await reasonOf(run({ ...ofPool, roomBytes: extent })), "VOLUME_PROTECTED");

    await run({ kind: "snapshot", ...at("thick"), originName: "second", tags: [], roomBytes: 2n * extent });
    t.match(await volume("thick"), { kind: "snapshot", originName: "second", thinPoolName: undefined });
    t.match(await volume("second"), { kind: "thinVolume", thinPoolName });
    t.equal(await freeBytes(), (freeBefore ?? 0n) - 2n * extent);
    t.equal(await reasonOf(run({ kind: "remove", ...at("second") })), "VOLUME_PROTECTED");
    for (const name of ["thick", "second", "idle", "data"]) {
      await run({ kind: "remove", ...at(name) });
    }
    t.equal((await lvm.read()).value.volumes.length, 1, "only the pool is left");
    t.equal(await freeBytes(), freeBefore);
  });

  test(`${kind}: a thin pool is created and grows`, async (t) => {
    const { lvm, volumeGroupName } = await makeSubject(t);
    t.teardown(() => lvm.close());
    const find = async (name: string) => (await lvm.read()).value.volumes.find((one) => one.name === name);
    const freeBytes = async () => (await lvm.read()).value.volumeGroups[0]?.freeBytes ?? 0n;
    const at = { volumeGroupName, name: "second" };
    const before = await freeBytes();
    await lvm.run({
      kind: "createThinPool",
      ...at,
      sizeBytes: 5n * extent,
      metadataSizeBytes: extent,
      tags: ["a"],
    });
    t.match(await find("second"), {
      kind: "thinPool",
      sizeBytes: 5n * extent,
      metadataSizeBytes: extent,
      active: true,
      tags: ["a"],
      dataPercent: 0,
    });
    t.equal(
      before - (await freeBytes()),
      6n * extent,
      "the spare for the first pool's metadata is large enough",
    );
    const again = { kind: "createThinPool", ...at, sizeBytes: extent, tags: [] } as const;
    t.equal(await reasonOf(lvm.run(again)), "VOLUME_EXISTS");
    t.equal(await reasonOf(lvm.run({ ...again, name: "huge", sizeBytes: 1000n * extent })), "NO_SPACE");

    await lvm.run({ kind: "resizeMetadata", ...at, sizeBytes: 2n * extent });
    await lvm.run({ kind: "resize", ...at, sizeBytes: 6n * extent });
    t.match(await find("second"), { sizeBytes: 6n * extent, metadataSizeBytes: 2n * extent });
    t.equal(before - (await freeBytes()), 9n * extent, "its data, its metadata, and more of the spare");
    await lvm.run({ kind: "resizeMetadata", ...at, sizeBytes: 2n * extent });
    const thin = { volumeGroupName, thinPoolName: "second", tags: [] };
    await lvm.run({ kind: "create", ...thin, name: "one", sizeBytes: extent });
    t.match(await find("one"), { thinPoolName: "second" });
  });

  test(`${kind}: only an empty thin pool is removed, the last one with the spare`, async (t) => {
    const { lvm, volumeGroupName, thinPoolName } = await makeSubject(t);
    t.teardown(() => lvm.close());
    const at = (name: string) => ({ volumeGroupName, name });
    const group = async () =>
      (await lvm.read()).value.volumeGroups.find(({ name }) => name === volumeGroupName);
    const removePool = (name: string) => lvm.run({ kind: "removeThinPool", ...at(name) });
    await lvm.run({ kind: "create", ...at("thick"), sizeBytes: extent, tags: [] });
    await lvm.run({ kind: "createThinPool", ...at("second"), sizeBytes: 5n * extent, tags: [] });
    await lvm.run({ kind: "resizeMetadata", ...at("second"), sizeBytes: 2n * extent });
    const before = (await group())?.freeBytes ?? 0n;
    await lvm.run({ kind: "create", ...at("one"), sizeBytes: extent, tags: [], thinPoolName: "second" });
    for (const name of ["second", "one", "thick"]) {
      t.equal(await reasonOf(removePool(name)), "VOLUME_PROTECTED", name);
    }
    t.equal(await reasonOf(removePool("absent")), "VOLUME_NOT_FOUND");
    await lvm.run({ kind: "remove", ...at("one") });
    t.equal(await reasonOf(lvm.run({ kind: "remove", ...at("second") })), "VOLUME_PROTECTED");
    await removePool("second");
    t.equal((await group())?.freeBytes, before + 7n * extent, "the spare keeps its size");
    await removePool(thinPoolName);
    await lvm.run({ kind: "remove", ...at("thick") });
    t.same((await lvm.read()).value.volumes, []);
    const { sizeBytes, freeBytes } = (await group()) ?? {};
    t.equal(freeBytes, sizeBytes, "the spare is gone");
  });

  test(`${kind}: a snapshot is merged into its origin`, async (t) => {
    const { lvm, volumeGroupName, thinPoolName } = await makeSubject(t);
    t.teardown(() => lvm.close());
    const at = (name: string) => ({ volumeGroupName, name });
    const find = async (name: string) => (await lvm.refresh()).value.volumes.find((one) => one.name === name);
    const untilMerged = async (name: string) => {
      while ((await find(name))?.merging === true) {
        await sleep(100);
      }
    };
    await lvm.run({ kind: "create", ...at("thin"), sizeBytes: 4n * extent, tags: ["o"], thinPoolName });
    const { uuid } = (await find("thin")) ?? {};
    await lvm.run({ kind: "snapshot", ...at("snap"), originName: "thin", tags: ["s"] });
    await lvm.run({ kind: "resize", ...at("thin"), sizeBytes: 6n * extent });
    await lvm.run({ kind: "merge", ...at("snap"), isThin: true });
    await untilMerged("thin");
    t.match(await find("thin"), {
      uuid,
      kind: "thinVolume",
      sizeBytes: 4n * extent,
      merging: false,
      active: true,
    });
    t.equal(await find("snap"), undefined);

    await lvm.run({ kind: "create", ...at("thick"), sizeBytes: 4n * extent, tags: [] });
    await lvm.run({ kind: "snapshot", ...at("cow"), originName: "thick", tags: [], roomBytes: 2n * extent });
    await lvm.run({ kind: "deactivate", ...at("thick") });
    await lvm.run({ kind: "merge", ...at("cow"), isThin: false });
    t.match(await find("thick"), { merging: true, active: false }, "it waits for the next activation");
    t.equal(await find("cow"), undefined, "LVM hides it at once");
    await lvm.run({ kind: "activate", ...at("thick") });
    await untilMerged("thick");
    t.match(await find("thick"), { kind: "linear", merging: false, active: true });
    t.equal(await reasonOf(lvm.run({ kind: "merge", ...at("thick"), isThin: false })), "TOOL_FAILED");
  });
}
