import { type Test, test } from "tap";
import type {
  LogicalVolume,
  LvmAdapter,
  LvmState,
  LvmStep,
  VolumeGroup,
} from "../../../adapters/lvm/adapter.ts";
import { snapshotRoomBytes } from "../../../adapters/lvm/snapshot-room.ts";
import { until } from "../../server/harness/until.ts";
import { reasonOf } from "../host/reason-of.ts";

/** An adapter to test, with an empty volume group of `extentCount` extents of 4 MiB. */
export interface ContractSubject {
  readonly lvm: LvmAdapter;
  readonly volumeGroupName: string;
  readonly extentCount: number;
  /** Whether volumes get block devices here. */
  readonly activates: boolean;
}

const extent = 4n << 20n;

/** Registers the tests that every LvmAdapter must pass. A new subject is created for each. */
export function testLvmContract(kind: string, makeSubject: (t: Test) => Promise<ContractSubject>): void {
  function contractTest(behaviour: string, body: (t: Test, subject: Subject) => Promise<void>): void {
    test(`${kind}: ${behaviour}`, async (t) => {
      const subject = await makeSubject(t);
      t.teardown(() => subject.lvm.close());
      await body(t, withSteps(subject));
    });
  }

  /** Registers a test that needs volumes with block devices. */
  function snapshotTest(behaviour: string, body: (t: Test, subject: Subject) => Promise<void>): void {
    contractTest(behaviour, async (t, subject) => {
      if (subject.activates) {
        await body(t, subject);
      } else {
        t.pass("there is no device-mapper here");
      }
    });
  }

  contractTest("all extents of an empty group are free", async (t, { group, extentCount }) => {
    const { sizeBytes, freeBytes, extentSizeBytes, missingPvCount } = await group();
    t.equal(extentSizeBytes, extent);
    t.equal(sizeBytes, BigInt(extentCount) * extent);
    t.equal(freeBytes, sizeBytes);
    t.equal(missingPvCount, 0);
  });

  contractTest(
    "a volume exists as soon as it is created, rounded up to whole extents",
    async (t, subject) => {
      const { create, volume, group, activates, extentCount } = subject;
      await create("data", extent + 1n, ["b", "a=1"]);
      const created = await volume("data");
      t.match(created, {
        kind: "linear",
        health: created?.health,
        sizeBytes: 2n * extent,
        open: false,
        active: activates,
      });
      t.ok(created?.health === "ok" || created?.health === "unknown");
      t.strictSame(created?.tags, ["a=1", "b"]);
      t.equal(created?.device !== undefined, activates);
      t.equal((await group()).freeBytes, BigInt(extentCount - 2) * extent);
    },
  );

  contractTest("a volume has the attributes that lvs shows", async (t, { create, volume, activates }) => {
    await create("data", extent);
    const created = await volume("data");
    t.equal(created?.readOnly, false);
    t.match(created?.attributes, activates ? /^-wi-a-----$/ : /^-wi.{7}$/);
  });

  contractTest(
    "a volume is on devices of its group, which do not change with its name",
    async (t, subject) => {
      const { create, rename, volume, lvm } = subject;
      await create("data", extent);
      const { physicalVolumes } = (await lvm.read()).value;
      t.strictSame((await volume("data"))?.devicePaths, [physicalVolumes[0]?.path]);
      await rename("data", "renamed");
      t.strictSame((await volume("renamed"))?.devicePaths, [physicalVolumes[0]?.path]);
      t.match(await volume("renamed"), {
        merging: false,
        roomBytes: undefined,
        metadataSizeBytes: undefined,
      });
    },
  );

  contractTest("a volume is laid out as the options specify, or is not created", async (t, subject) => {
    const { lvm, volumeGroupName, volume, state } = subject;
    const create = (name: string, options: readonly string[]) =>
      lvm.run({ kind: "create", volumeGroupName, name, sizeBytes: extent, tags: [], options });
    await create("one", ["--type", "linear", "--contiguous", "y"]);
    t.match(await volume("one"), { kind: "linear", sizeBytes: extent });
    t.equal(await reasonOf(create("two", ["--stripes", "2"])), "NO_SPACE", "the group has only one device");
    t.equal((await state()).volumes.length, 1);
  });

  contractTest("a refresh returns a state read after the call, and is shared", async (t, { lvm }) => {
    await lvm.read();
    const requestedAtMs = performance.now();
    const refreshed = await Promise.all(Array.from({ length: 50 }, () => lvm.refresh()));
    const reads = new Set(refreshed.map(({ readAtMs }) => readAtMs));
    t.ok(Math.min(...reads) >= requestedAtMs);
    t.ok(reads.size <= 2, "one read started by the first call, and one for all others");
  });

  contractTest("readRecent includes a change as soon as it has finished", async (t, subject) => {
    const { lvm, create, remove } = subject;
    const names = async () => (await lvm.readRecent()).value.volumes.map(({ name }) => name);
    await lvm.readRecent();
    for (const name of ["one", "other"]) {
      await create(name, extent);
      t.ok((await names()).includes(name), `${name} exists`);
    }
    await remove("one");
    t.strictSame(await names(), ["other"]);
    // Another reader refreshes all the time.
    const reading = Promise.all(Array.from({ length: 20 }, () => lvm.refresh()));
    await create("third", extent);
    t.ok((await names()).includes("third"));
    await reading;
  });

  contractTest("a name can be used only once", async (t, { create, volume }) => {
    await create("data", extent);
    const { uuid } = (await volume("data")) ?? {};
    t.equal(await reasonOf(create("data", extent)), "VOLUME_EXISTS");
    t.equal((await volume("data"))?.uuid, uuid);
  });

  contractTest("names and tags that LVM rejects are INVALID_FIELD", async (t, { create, state }) => {
    const names = ["snapshot1", "pvmove0", "x_tdata", "x_mlog", "x_cvol_y", ".", "a b", "n".repeat(128)];
    for (const name of names) {
      t.equal(await reasonOf(create(name, extent)), "INVALID_FIELD", name);
    }
    t.equal(await reasonOf(create("data", extent, ["a@b"])), "INVALID_FIELD");
    t.equal(await reasonOf(create("data", 0n)), "INVALID_FIELD");
    t.equal((await state()).volumes.length, 0);
  });

  contractTest(
    "the longest and most unusual valid names and tags are accepted",
    async (t, { create, state }) => {
      const names = ["a", "A1+_.-", "...", "lvol9", "my-snapshot", "x_tpool", "n".repeat(90)];
      for (const name of names) {
        await create(name, extent, ["!a/b=c:d#e&f", "t".repeat(128)]);
      }
      t.strictSame((await state()).volumes.map(({ name }) => name).sort(), names.sort());
    },
  );

  contractTest("a volume larger than the free space is NO_SPACE and changes nothing", async (t, subject) => {
    const { create, resize, state, lvm, extentCount } = subject;
    await create("data", extent);
    const before = await lvm.read();
    t.equal(await reasonOf(create("big", BigInt(extentCount) * extent)), "NO_SPACE");
    t.equal(await reasonOf(create("huge", 1n << 62n)), "NO_SPACE");
    t.equal(await reasonOf(resize("data", BigInt(extentCount + 1) * extent)), "NO_SPACE");
    t.strictSame(await state(), before.value);
    t.equal((await lvm.read()).revision, before.revision);
    await create("rest", BigInt(extentCount - 1) * extent);
  });

  contractTest(
    "a volume grows and never shrinks",
    async (t, { create, resize, volume, group, extentCount }) => {
      await create("data", 2n * extent);
      await resize("data", 3n * extent - 1n);
      t.equal((await volume("data"))?.sizeBytes, 3n * extent);
      t.equal((await group()).freeBytes, BigInt(extentCount - 3) * extent);
      await resize("data", 3n * extent);
      t.equal(await reasonOf(resize("data", extent)), "SHRINK_NOT_ALLOWED");
      t.equal((await volume("data"))?.sizeBytes, 3n * extent);
    },
  );

  contractTest("a volume can be removed, active or not, which frees its space", async (t, subject) => {
    const { create, deactivate, remove, state, group } = subject;
    await create("data", extent);
    await create("idle", extent);
    await deactivate("idle");
    await remove("data");
    await remove("idle");
    t.equal((await state()).volumes.length, 0);
    const { freeBytes, sizeBytes } = await group();
    t.equal(freeBytes, sizeBytes);
  });

  contractTest(
    "activation creates the device, and deactivation removes it",
    async (t, { create, activate, deactivate, volume, activates }) => {
      await create("data", extent);
      await deactivate("data");
      t.match(await volume("data"), { active: false, device: undefined });
      await deactivate("data");
      await activate("data");
      t.equal((await volume("data"))?.active, activates);
      await activate("data");
    },
  );

  contractTest(
    "missing volumes and groups are VOLUME_NOT_FOUND and VOLUME_GROUP_GONE",
    async (t, { lvm, volumeGroupName }) => {
      const cases: [string, string][] = [
        [volumeGroupName, "VOLUME_NOT_FOUND"],
        ["no-such-group", "VOLUME_GROUP_GONE"],
      ];
      for (const [group, reason] of cases) {
        const at = { volumeGroupName: group, name: "nope" };
        const steps: LvmStep[] = [
          { kind: "resize", ...at, sizeBytes: extent },
          { kind: "activate", ...at },
          { kind: "deactivate", ...at },
          { kind: "rename", ...at, newName: "other" },
          { kind: "changeTags", ...at, addTags: ["a"], removeTags: [] },
          { kind: "remove", ...at },
        ];
        for (const step of steps) {
          t.equal(await reasonOf(lvm.run(step)), reason, `${step.kind} in ${group}`);
        }
      }
      const inNoGroup = {
        kind: "create",
        volumeGroupName: "no-such-group",
        name: "a",
        sizeBytes: extent,
        tags: [],
      } as const;
      t.equal(await reasonOf(lvm.run(inNoGroup)), "VOLUME_GROUP_GONE");
      const inNoPool = { ...inNoGroup, volumeGroupName, thinPoolName: "no-such-pool" };
      t.equal(await reasonOf(lvm.run(inNoPool)), "VOLUME_GROUP_GONE");
    },
  );

  contractTest("renaming a volume changes nothing but its name", async (t, subject) => {
    const { create, rename, state, volume } = subject;
    await create("data", extent, ["kept"]);
    await create("other", extent);
    const before = await volume("data");
    t.equal(await reasonOf(rename("data", "other")), "VOLUME_EXISTS");
    t.equal(await reasonOf(rename("absent", "new")), "VOLUME_NOT_FOUND");
    for (const name of ["data", "snapshot1", "x_tdata"]) {
      t.equal(await reasonOf(rename("data", name)), "INVALID_FIELD", name);
    }
    await rename("data", "my-data");
    t.strictSame(await volume("my-data"), { ...before, name: "my-data" });
    t.equal((await state()).volumes.length, 2);
  });

  contractTest("tags are added and removed", async (t, { create, changeTags, volume }) => {
    await create("data", extent, ["a", "b"]);
    await changeTags("data", ["c", "a"], ["b", "absent"]);
    t.strictSame((await volume("data"))?.tags, ["a", "c"]);
    await changeTags("data", [], ["a", "c"]);
    t.strictSame((await volume("data"))?.tags, []);
    t.equal(await reasonOf(changeTags("data", ["a@b"], [])), "INVALID_FIELD");
    t.equal(await reasonOf(changeTags("data", [], ["a b"])), "INVALID_FIELD");
  });

  contractTest("a snapshot needs a block device", async (t, { create, snapshot, state, activates }) => {
    await create("data", extent);
    const reason = await reasonOf(snapshot("snap", "data", extent));
    t.equal(reason, activates ? undefined : "TOOL_FAILED");
    t.equal((await state()).volumes.length, activates ? 2 : 1);
  });

  snapshotTest(
    "a copy-on-write snapshot uses space of the group, and removing it frees the space",
    async (t, subject) => {
      const { create, snapshot, rename, remove, group, volume, extentCount } = subject;
      await create("data", 10n * extent);
      await snapshot("snap", "data", 2n * extent - 1n, ["b", "a=1"]);
      const snap = await volume("snap");
      t.match(snap, {
        kind: "snapshot",
        health: "ok",
        originName: "data",
        sizeBytes: 10n * extent,
        dataPercent: 0,
        active: true,
        open: false,
        roomBytes: 2n * extent,
      });
      t.strictSame(snap?.tags, ["a=1", "b"]);
      t.ok(snap?.device);
      t.match(await volume("data"), { kind: "linear", originName: undefined, active: true });
      t.equal((await group()).freeBytes, BigInt(extentCount - 12) * extent);
      await rename("data", "origin");
      t.equal((await volume("snap"))?.originName, "origin");
      await remove("snap");
      t.equal((await group()).freeBytes, BigInt(extentCount - 10) * extent);
      await remove("origin");
    },
  );

  snapshotTest("a snapshot can be read-only", async (t, subject) => {
    const { lvm, volumeGroupName, create, volume } = subject;
    await create("data", extent);
    const snapshot = {
      kind: "snapshot",
      volumeGroupName,
      originName: "data",
      tags: [],
      roomBytes: extent,
    } as const;
    await lvm.run({ ...snapshot, name: "read", readOnly: true });
    await lvm.run({ ...snapshot, name: "written" });
    t.match(await volume("read"), { readOnly: true, attributes: "sri-a-s---" });
    t.match(await volume("written"), { readOnly: false, attributes: "swi-a-s---" });
    t.match(await volume("data"), { readOnly: false, attributes: "owi-a-s---" });
  });

  snapshotTest("a snapshot uses no more space than it can ever need", async (t, subject) => {
    const { create, snapshot, group, extentCount } = subject;
    await create("data", 10n * extent);
    await snapshot("snap", "data", 30n * extent);
    await snapshot("whole", "data", snapshotRoomBytes(10n * extent, 100));
    t.equal(
      (await group()).freeBytes,
      BigInt(extentCount - 32) * extent,
      "ten for the data, one for its metadata",
    );
  });

  snapshotTest(
    "an origin and its copy-on-write snapshots are activated and removed together",
    async (t, subject) => {
      const { create, snapshot, activate, deactivate, resize, remove, volume } = subject;
      await create("data", 4n * extent);
      await snapshot("snap", "data", extent);
      t.equal(await reasonOf(remove("data")), "VOLUME_PROTECTED");
      t.equal(await reasonOf(resize("data", 5n * extent)), "VOLUME_PROTECTED");
      t.equal(await reasonOf(deactivate("snap")), "VOLUME_PROTECTED");
      t.equal(await reasonOf(activate("snap")), "VOLUME_PROTECTED");
      await deactivate("data");
      t.match(await volume("snap"), { active: false, device: undefined });
      t.equal(await reasonOf(remove("data")), "VOLUME_PROTECTED");
      await snapshot("late", "data", extent);
      t.match(await volume("late"), { active: false, device: undefined });
      await activate("data");
      t.match(await volume("late"), { active: true });
      await deactivate("data");
      await remove("snap");
      await remove("late");
      await remove("data");
    },
  );

  snapshotTest("an invalid snapshot is refused and leaves nothing behind", async (t, subject) => {
    const { create, snapshot, state, group, extentCount } = subject;
    await create("data", 10n * extent);
    await create("fill", BigInt(extentCount - 12) * extent);
    t.equal(await reasonOf(snapshot("snap", "data", 3n * extent)), "NO_SPACE");
    t.equal(await reasonOf(snapshot("snap", "absent", extent)), "VOLUME_NOT_FOUND");
    t.equal(await reasonOf(snapshot("fill", "data", extent)), "VOLUME_EXISTS");
    t.equal(await reasonOf(snapshot("snapshot1", "data", extent)), "INVALID_FIELD");
    t.equal(await reasonOf(snapshot("a-".repeat(50), "data", extent)), "INVALID_FIELD");
    t.equal(await reasonOf(snapshot("snap", "data", extent, ["a@b"])), "INVALID_FIELD");
    t.equal(await reasonOf(snapshot("thick", "data", undefined)), "TOOL_FAILED");
    t.equal((await state()).volumes.length, 2);
    await snapshot("snap", "data", 2n * extent);
    t.equal(await reasonOf(snapshot("snap2", "snap", extent)), "VOLUME_PROTECTED");
    t.equal((await group()).freeBytes, 0n);
  });

  contractTest(
    "concurrent creates for the last space succeed exactly as far as the space allows",
    async (t, subject) => {
      const { create, state, group, extentCount } = subject;
      await create("first", BigInt(extentCount - 4) * extent);
      const reasons = await Promise.all(
        Array.from({ length: 10 }, (_, index) => reasonOf(create(`racer-${index}`, extent))),
      );
      t.equal(reasons.filter((reason) => reason === undefined).length, 4);
      t.equal(reasons.filter((reason) => reason === "NO_SPACE").length, 6);
      t.equal((await group()).freeBytes, 0n);
      t.equal((await state()).volumes.length, 5);
    },
  );

  contractTest("one of several concurrent creates with one name succeeds", async (t, { create, state }) => {
    const reasons = await Promise.all(Array.from({ length: 5 }, () => reasonOf(create("same", extent))));
    t.strictSame(reasons.sort(), [...Array(4).fill("VOLUME_EXISTS"), undefined]);
    t.equal((await state()).volumes.length, 1);
  });

  contractTest("subscribers are notified of a change, but not after they unsubscribe", async (t, subject) => {
    const { create, lvm } = subject;
    await lvm.read();
    let calls = 0;
    const unsubscribe = lvm.subscribe(() => {
      calls += 1;
    });
    await create("data", extent);
    await until(() => calls > 0);
    unsubscribe();
    const before = calls;
    await create("more", extent);
    await lvm.read();
    t.equal(calls, before);
  });

  contractTest("a thousand readers get the same snapshot", async (t, { lvm }) => {
    const snapshots = await Promise.all(Array.from({ length: 1_000 }, () => lvm.read()));
    t.equal(new Set(snapshots).size, 1);
    t.equal(await lvm.read(), snapshots[0]);
  });

  contractTest(
    "each step can be shown as a command before it runs",
    async (t, { lvm, volumeGroupName, state }) => {
      const argv = lvm.commandOf({ kind: "remove", volumeGroupName, name: "data" });
      t.ok(argv.includes("lvremove"));
      t.equal(argv.at(-1), `${volumeGroupName}/data`);
      t.equal((await state()).volumes.length, 0);
    },
  );

  contractTest("inspection returns findings and never throws", async (t, { lvm }) => {
    const { version, findings } = await lvm.inspect();
    t.equal(await lvm.version(), version);
    t.type(version, "string");
    t.ok(findings.length > 0);
    for (const { ok, fix } of findings) {
      if (!ok) {
        t.type(fix, "string");
      }
    }
  });
}

interface Subject extends ContractSubject {
  state(): Promise<LvmState>;
  group(): Promise<VolumeGroup>;
  volume(name: string): Promise<LogicalVolume | undefined>;
  create(name: string, sizeBytes: bigint, tags?: readonly string[]): Promise<void>;
  resize(name: string, sizeBytes: bigint): Promise<void>;
  snapshot(
    name: string,
    originName: string,
    roomBytes: bigint | undefined,
    tags?: readonly string[],
  ): Promise<void>;
  rename(name: string, newName: string): Promise<void>;
  changeTags(name: string, addTags: readonly string[], removeTags: readonly string[]): Promise<void>;
  activate(name: string): Promise<void>;
  deactivate(name: string): Promise<void>;
  remove(name: string): Promise<void>;
}

function withSteps(subject: ContractSubject): Subject {
  const { lvm, volumeGroupName } = subject;
  const state = async () => (await lvm.read()).value;
  return {
    ...subject,
    state,
    async group() {
      const group = (await state()).volumeGroups.find(({ name }) => name === volumeGroupName);
      if (group === undefined) {
        throw new Error(`${volumeGroupName} is not there`);
      }
      return group;
    },
    volume: async (name) =>
      (await state()).volumes.find((one) => one.volumeGroupName === volumeGroupName && one.name === name),
    create: (name, sizeBytes, tags = []) =>
      lvm.run({ kind: "create", volumeGroupName, name, sizeBytes, tags }),
    resize: (name, sizeBytes) => lvm.run({ kind: "resize", volumeGroupName, name, sizeBytes }),
    snapshot: (name, originName, roomBytes, tags = []) =>
      lvm.run({
        kind: "snapshot",
        volumeGroupName,
        name,
        originName,
        tags,
        ...(roomBytes === undefined ? {} : { roomBytes }),
      }),
    rename: (name, newName) => lvm.run({ kind: "rename", volumeGroupName, name, newName }),
    changeTags: (name, addTags, removeTags) =>
      lvm.run({ kind: "changeTags", volumeGroupName, name, addTags, removeTags }),
    activate: (name) => lvm.run({ kind: "activate", volumeGroupName, name }),
    deactivate: (name) => lvm.run({ kind: "deactivate", volumeGroupName, name }),
    remove: (name) => lvm.run({ kind: "remove", volumeGroupName, name }),
  };
}
