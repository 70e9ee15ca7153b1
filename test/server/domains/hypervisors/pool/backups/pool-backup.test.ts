import { Readable } from "node:stream";
import { test } from "tap";
import { InfraError } from "../../../../../../adapters/host/infra-error.ts";
import { libvirtReasons } from "../../../../../../adapters/libvirt/reasons.ts";
import type { LogicalVolume } from "../../../../../../adapters/lvm/adapter.ts";
import { resticReasons } from "../../../../../../adapters/restic/reasons.ts";
import { createResticSandbox } from "../../../../../../adapters/restic/sandbox.ts";
import { OperationState, OperationsService } from "../../../../../../gen/operations/v1/operations_pb.ts";
import { backupNameAt } from "../../../../../../server/domains/hypervisors/pool/backups/back-up-pool.ts";
import type { PoolBackupResult } from "../../../../../../server/domains/hypervisors/pool/backups/backup-run.ts";
import { reasonOf } from "../../../../../adapters/host/reason-of.ts";
import {
  countedRestic,
  createDirectoryHost,
  createPoolBackupsGateway,
  createVolumeGroupHost,
  domainWith,
  gatedRestic,
  running,
  stopped,
  until,
} from "./pool-backups-under-test.ts";

const mib = 1 << 20;

test("every volume of a directory is stored once, those of a running VM as of one point in time", async (t) => {
  const host = await createDirectoryHost(t);
  const gateway = await createPoolBackupsGateway(t, host);
  const operation = await gateway.backUp();
  t.match(operation, {
    kind: "storagePool.backup",
    resource: "storagePool",
    state: "completed",
    steps: ["open", "choose", "store", "verify", "record", "clean"].map((name) => ({ name, state: "done" })),
  });
  const { name, ...result } = operation.result as PoolBackupResult;
  t.match(name, /^pool-\d{8}T\d{6}Z$/);
  const storedBytes = 2 * 3 * mib + 2 * mib + mib;
  t.strictSame(result, {
    repository: "/srv/pool-backups",
    volumeCount: 4,
    sizeBytes: storedBytes,
    skipped: [],
  });
  const rows = await gateway.rows();
  t.strictSame(rows.map(({ volume }) => volume).toSorted(), [
    "storagePool/volumes/a.qcow2",
    "storagePool/volumes/b.qcow2",
    "storagePool/volumes/c.raw",
    "storagePool/volumes/seed.iso",
  ]);
  t.ok(rows.every((row) => row.name === name && row.actor === "user/admin" && row.key_name !== null));
  const atOf = (volume: string) => rows.find((row) => row.volume.endsWith(volume))?.at;
  t.equal(atOf("a.qcow2"), atOf("b.qcow2"), "both disks of the running VM have the same time");
  const stored = await host.stored();
  t.strictSame(stored.map(({ fileName }) => fileName).toSorted(), [
    "a.qcow2",
    "b.qcow2",
    "c.raw",
    "seed.iso",
  ]);
  t.ok(stored.some(({ tags }) => tags.includes("volume=images/c.raw") && tags.includes("hostplane")));
  t.strictSame(await host.leftovers(), []);
});

test("every volume of a volume group is stored from a snapshot, thick or thin", async (t) => {
  const host = await createVolumeGroupHost();
  const gateway = await createPoolBackupsGateway(t, host);
  const before = await host.volumeNames();
  const operation = await gateway.backUp();
  t.match(operation, { state: "completed", result: { volumeCount: 3, sizeBytes: 160 * mib, skipped: [] } });
  t.strictSame((await host.stored()).map(({ fileName }) => fileName).toSorted(), ["one", "thin", "two"]);
  t.strictSame(
    await host.volumeNames(),
    before,
    "no snapshot is left, and the thin pool does not count as a volume",
  );
});

test("CreateBackup reports the operation as a stream, and another request joins it", async (t) => {
  const restic = gatedRestic();
  const host = await createDirectoryHost(t, restic);
  const gateway = await createPoolBackupsGateway(t, host);
  const { published, call, beginBackup, planBackUp } = gateway;
  const method = OperationsService.method.createBackup;
  const view = published.createBackup.run({} as never, call(method))[Symbol.asyncIterator]();
  const first = await view.next();
  t.match(first.value, { state: OperationState.SCHEDULED });
  const joined = await beginBackup();
  const planned = await planBackUp();
  t.strictSame(planned.steps, [], "a plan of the same backup has no steps");
  restic.open();
  let last = first.value;
  for (let next = await view.next(); next.done !== true; next = await view.next()) {
    last = next.value;
  }
  t.match(last, {
    state: OperationState.COMPLETED,
    msg: /^4 volumes of .*, 9 MiB .*stored as pool-.* in \/srv\/pool-backups$/,
  });
  t.match(await gateway.end(joined.id), { state: "completed" });
  t.equal((await host.stored()).length, 4, "it was one operation");
  const plan = await planBackUp();
  t.match(plan, { kind: "storagePool.backup", pointOfNoReturn: 7, plan: { losses: [] } });
  t.match(
    plan.plan.changes[0],
    /^images\/a\.qcow2, 3 MiB \(3145728 bytes\), is stored in \/srv\/pool-backups/,
  );
});

test("progress shows the current volume, and the bytes of all volumes", async (t) => {
  const restic = gatedRestic();
  const host = await createDirectoryHost(t, restic);
  const gateway = await createPoolBackupsGateway(t, host);
  const { id } = await gateway.beginBackup();
  await until(async () => (await gateway.operations.get(id)).totalBytes !== undefined);
  t.match(await gateway.operations.get(id), { message: "storing a.qcow2 (1 of 4)", doneBytes: 0 });
  restic.open();
  t.match(await gateway.end(id), { state: "completed" });
});

test("all unreadable volumes are reported before anything begins", async (t) => {
  const host = await createVolumeGroupHost();
  const gateway = await createPoolBackupsGateway(t, host);
  const backUp = () => gateway.beginBackup();
  for (const name of ["one", "two"]) {
    await host.lvm.run({ kind: "deactivate", volumeGroupName: "vgpool", name }).catch(() => {});
  }
  await host.lvm.run({
    kind: "create",
    volumeGroupName: "vgpool",
    name: "three",
    sizeBytes: 4n << 20n,
    tags: [],
  });
  await host.lvm.run({ kind: "deactivate", volumeGroupName: "vgpool", name: "three" });
  await t.rejects(backUp(), {
    reason: "VOLUME_INACTIVE",
    message: /lvchange -ay vgpool\/three.*; .*lvchange -ay vgpool\/two/,
  });
  t.strictSame((await gateway.operations.list({}, { belowSeq: undefined, limit: 9 })).operations, []);
  t.equal(await reasonOf(gateway.planBackUp()), "VOLUME_INACTIVE");
});

test("a volume with two running writers is rejected, and so is a wrong or missing libvirt pool", async (t) => {
  const host = await createDirectoryHost(t);
  const gateway = await createPoolBackupsGateway(t, host);
  const other = "6f0c2ad8-17c0-4a5b-9d3a-52b8a40f1d09";
  host.libvirt.runOutside({ kind: "define", domain: domainWith("other", other, "a.qcow2") });
  host.libvirt.runOutside({ kind: "start", name: "other", uuid: other });
  await t.rejects(gateway.beginBackup(), {
    reason: "STORAGE_VOLUME_IN_USE",
    message: /bm-1 and other write to the volume a\.qcow2/,
  });
  for (const [libvirtPool, directory, words] of [
    ["images", t.testdirName.concat("/elsewhere"), /is .*, but the shared storage pool is .*elsewhere/],
    ["none", host.pool.name, /no active storage pool none/],
  ] as const) {
    const system = { kind: "directory", libvirt: host.libvirt, libvirtPool, directory } as const;
    const misled = await createPoolBackupsGateway(t, host, { system });
    await t.rejects(misled.beginBackup(), {
      reason: "STORAGE_POOL_NOT_FOUND",
      message: words,
    });
  }
});

test("an empty pool cannot be backed up", async (t) => {
  const host = await createDirectoryHost(t);
  host.libvirt.runOutside({ kind: "powerOff", ...running });
  for (const name of await host.volumeNames()) {
    host.libvirt.runOutside({ kind: "deleteVolume", pool: "images", name });
  }
  const gateway = await createPoolBackupsGateway(t, host);
  t.equal(await reasonOf(gateway.beginBackup()), "STORAGE_VOLUME_NOT_FOUND");
});

test("a volume that is removed meanwhile is skipped and reported", async (t) => {
  const adapter = createResticSandbox({ transferMs: 1 });
  const counted = countedRestic(adapter);
  const host = await createDirectoryHost(t, counted);
  let isFirst = true;
  const restic = {
    ...counted.adapter,
    async backup(...args: Parameters<typeof adapter.backup>) {
      if (isFirst) {
        isFirst = false;
        host.libvirt.runOutside({ kind: "deleteVolume", pool: "images", name: "seed.iso" });
      }
      return adapter.backup(...args);
    },
  };
  const gateway = await createPoolBackupsGateway(t, host, { restic });
  const operation = await gateway.backUp();
  t.match(operation, { state: "completed", result: { volumeCount: 3, skipped: ["seed.iso"] } });
  t.equal((await gateway.rows()).length, 3);
});

test("the volumes of a VM that starts or stops meanwhile are read in the other way", async (t) => {
  const adapter = createResticSandbox({ transferMs: 1 });
  const counted = countedRestic(adapter);
  const host = await createDirectoryHost(t, counted);
  const sizes = new Map<string, number | undefined>();
  const restic = {
    ...counted.adapter,
    async backup(...args: Parameters<typeof adapter.backup>) {
      const [, source] = args;
      if (sizes.size === 0) {
        // While the first disk of the VM is being read.
        host.libvirt.runOutside({ kind: "powerOff", ...running });
        host.libvirt.runOutside({ kind: "start", ...stopped });
      }
      sizes.set(source.fileName, source.sizeBytes);
      return adapter.backup(...args);
    },
  };
  const gateway = await createPoolBackupsGateway(t, host, { restic });
  const operation = await gateway.backUp();
  t.match(operation, { state: "completed", result: { volumeCount: 4 } });
  t.ok((sizes.get("a.qcow2") ?? 0) < 3 * mib, "the file as stored");
  t.equal((await host.stored()).length, 4);
  t.strictSame(await host.leftovers(), []);
});

test("a temporary outage of libvirt is tolerated", async (t) => {
  const adapter = createResticSandbox({ transferMs: 1 });
  const counted = countedRestic(adapter);
  const host = await createDirectoryHost(t, counted);
  let isFirst = true;
  const restic = {
    ...counted.adapter,
    async backup(...args: Parameters<typeof adapter.backup>) {
      if (isFirst) {
        isFirst = false;
        host.libvirt.setOutage(new InfraError(libvirtReasons.LIBVIRT_UNAVAILABLE, "it is restarting"));
        setTimeout(() => host.libvirt.setOutage(undefined), 300);
      }
      return adapter.backup(...args);
    },
  };
  const gateway = await createPoolBackupsGateway(t, host, { restic });
  t.match(await gateway.backUp(), { state: "completed", result: { volumeCount: 4 } });
  t.equal((await host.stored()).length, 4);
  t.strictSame(await host.leftovers(), []);
});

test("a snapshot that runs full fails the operation, which leaves nothing behind", async (t) => {
  const adapter = createResticSandbox({ transferMs: 1 });
  const counted = countedRestic(adapter);
  const host = await createVolumeGroupHost(counted);
  let stored = 0;
  const lvm: typeof host.lvm = {
    ...host.lvm,
    async refresh(...args) {
      const snapshot = await host.lvm.refresh(...args);
      const volumes = snapshot.value.volumes.map((volume) =>
        stored > 1 && volume.name.startsWith("hostplane-backup-")
          ? { ...volume, health: "invalidSnapshot" as const }
          : volume,
      );
      return { ...snapshot, value: { ...snapshot.value, volumes } };
    },
  };
  const restic = {
    ...counted.adapter,
    async backup(...args: Parameters<typeof adapter.backup>) {
      const id = await adapter.backup(...args);
      stored += 1;
      return id;
    },
  };
  const system = { kind: "volumeGroup", lvm, volumeGroup: "vgpool" } as const;
  const gateway = await createPoolBackupsGateway(t, host, { restic, system });
  t.match(await gateway.backUp(), {
    state: "failed",
    failure: { reason: "SNAPSHOT_FULL", message: /hypervisors\.pool\.backup\.snapshotPercent/ },
  });
  t.strictSame(await host.stored(), []);
  t.strictSame(await host.leftovers(), []);
  t.strictSame(await gateway.rows(), []);
});

/** Creates a volume group host whose first LVM snapshot becomes invalid, and whose first `forget` fails. */
async function createRejecting(change: (volumes: readonly LogicalVolume[]) => readonly LogicalVolume[]) {
  const counted = countedRestic();
  const host = await createVolumeGroupHost(counted);
  const { backup, forget } = counted.adapter;
  let isFirst = true;
  let isRejecting = false;
  const lvm: typeof host.lvm = {
    ...host.lvm,
    async refresh(...args) {
      const snapshot = await host.lvm.refresh(...args);
      const volumes = isRejecting ? change(snapshot.value.volumes) : snapshot.value.volumes;
      isRejecting = false;
      return { ...snapshot, value: { ...snapshot.value, volumes } };
    },
  };
  let isLocked = true;
  const restic = {
    ...counted.adapter,
    async backup(...args: Parameters<typeof backup>) {
      const id = await backup(...args);
      isRejecting = isFirst;
      isFirst = false;
      return id;
    },
    async forget(...args: Parameters<typeof forget>) {
      if (isLocked) {
        isLocked = false;
        throw new InfraError(resticReasons.REPOSITORY_LOCKED, "by another process");
      }
      return forget(...args);
    },
  };
  return {
    host,
    options: { restic, system: { kind: "volumeGroup", lvm, volumeGroup: "vgpool" } } as const,
  };
}

test("a snapshot that runs full fails the operation even while the repository is locked", async (t) => {
  const { host, options } = await createRejecting((volumes) =>
    volumes.map((volume) =>
      volume.name.startsWith("hostplane-backup-") ? { ...volume, health: "invalidSnapshot" } : volume,
    ),
  );
  const gateway = await createPoolBackupsGateway(t, host, options);
  t.match(await gateway.backUp(), { state: "failed", failure: { reason: "SNAPSHOT_FULL" } });
  t.strictSame(await host.stored(), []);
  t.strictSame(await gateway.rows(), []);
});

test("data stored from a snapshot that is gone is no backup, even if it cannot be removed at once", async (t) => {
  const { host, options } = await createRejecting((volumes) =>
    volumes.filter(({ name }) => !name.startsWith("hostplane-backup-")),
  );
  const gateway = await createPoolBackupsGateway(t, host, options);
  t.match(await gateway.backUp(), { state: "failed", failure: { reason: "VOLUME_NOT_FOUND" } });
  t.strictSame(await host.stored(), []);
  t.strictSame(await gateway.rows(), []);
  t.strictSame(await host.leftovers(), []);
});

test("the end of a volume reaches restic only once it is known to be complete", async (t) => {
  const counted = countedRestic();
  const host = await createDirectoryHost(t, counted);
  const { backup } = counted.adapter;
  let readBytes = 0;
  let isFirst = true;
  async function* watched(content: AsyncIterable<Uint8Array>) {
    for await (const piece of content) {
      if (readBytes === 0) {
        host.libvirt.runOutside({ kind: "start", ...stopped });
      }
      readBytes += piece.length;
      yield piece;
    }
  }
  const restic = {
    ...counted.adapter,
    async backup(...[repository, source, options]: Parameters<typeof backup>) {
      if (isFirst && source.fileName === "c.raw" && "content" in source) {
        isFirst = false;
        return backup(repository, { ...source, content: watched(source.content) }, options);
      }
      return backup(repository, source, options);
    },
  };
  const gateway = await createPoolBackupsGateway(t, host, { restic });
  t.match(await gateway.backUp(), { state: "completed", result: { volumeCount: 4 } });
  t.ok(readBytes > 0 && readBytes < 2 * mib, `${readBytes} bytes read of a volume that changed`);
});

test("a cancelled backup leaves nothing behind", async (t) => {
  for (const isDirectory of [true, false]) {
    const counted = countedRestic();
    const host = isDirectory ? await createDirectoryHost(t, counted) : await createVolumeGroupHost(counted);
    const started = Promise.withResolvers<void>();
    const { backup } = counted.adapter;
    const restic = {
      ...counted.adapter,
      async backup(...args: Parameters<typeof backup>) {
        if ((await host.stored()).length === 0) {
          return backup(...args);
        }
        const [, , { signal }] = args;
        started.resolve();
        return new Promise<string>((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        });
      },
    };
    const gateway = await createPoolBackupsGateway(t, host, { restic });
    const { id } = await gateway.beginBackup();
    await started.promise;
    t.equal((await host.leftovers()).length, 1, "one resource is held");
    await gateway.operations.cancel(id);
    t.match(await gateway.end(id), { state: "cancelled" });
    t.strictSame(await host.stored(), []);
    t.strictSame(await host.leftovers(), []);
    t.strictSame(await gateway.rows(), []);
  }
});

test("an incomplete snapshot left by a killed gateway's restic is not used", async (t) => {
  const counted = countedRestic();
  const host = await createDirectoryHost(t, counted);
  const { backup } = counted.adapter;
  let isFirst = true;
  const restic = {
    ...counted.adapter,
    async backup(...args: Parameters<typeof backup>) {
      const [repository, { fileName, tags }, options] = args;
      if (isFirst) {
        isFirst = false;
        const part = { content: Readable.from([Buffer.alloc(1000)]), sizeBytes: undefined, fileName, tags };
        await backup(repository, part, options);
        throw new InfraError(libvirtReasons.STORAGE_VOLUME_IN_USE, "the reader was cut off");
      }
      return backup(...args);
    },
  };
  const gateway = await createPoolBackupsGateway(t, host, { restic });
  t.match(await gateway.backUp(), { state: "completed", result: { volumeCount: 4, sizeBytes: 9 * mib } });
  t.equal((await host.stored()).length, 4, "the incomplete snapshot is removed");
});

test("two backups in the same second have different names", async (t) => {
  t.equal(backupNameAt(Date.UTC(2026, 10, 21, 14, 45, 12, 900)), "pool-20261121T144512Z");
  const host = await createDirectoryHost(t);
  const gateway = await createPoolBackupsGateway(t, host);
  const results = [await gateway.backUp(), await gateway.backUp(), await gateway.backUp()];
  t.match(results, Array(3).fill({ state: "completed" }));
  t.equal(new Set((await gateway.rows()).map(({ name }) => name)).size, 3);
});
