import { randomUUID } from "node:crypto";
import { type Test, test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type {
  DomainDefinition,
  LibvirtAdapter,
  LibvirtDomain,
  LibvirtStep,
} from "../../../adapters/libvirt/adapter.ts";
import type { LibvirtVolume } from "../../../adapters/libvirt/backup-adapter.ts";
import { resticReasons } from "../../../adapters/restic/reasons.ts";
import { operationReasons } from "../../../server/operations/reasons.ts";
import { reasonOf } from "../host/reason-of.ts";

/** An adapter to test. */
export interface ContractSubject {
  readonly libvirt: LibvirtAdapter;
  /** An active pool of files with a few GiB of free space. */
  readonly pool: string;
  /** A qcow2 volume of the pool, larger than 1 MiB and at most 1 GiB. */
  readonly backingVolume: string;
  /** A network for VMs. */
  readonly network: string;
  /** A PCI device of the host. */
  readonly hostDevice: string;
}

const mebibyte = 1n << 20n;
const gibibyte = 1n << 30n;
const absentUuid = "00000000-1111-4222-8333-444444444444";

/** Registers the tests that every LibvirtAdapter must pass. A new subject is created for each. */
export function testLibvirtContract(kind: string, makeSubject: (t: Test) => Promise<ContractSubject>): void {
  function contractTest(behaviour: string, body: (t: Test, subject: Subject) => Promise<void>): void {
    test(`${kind}: ${behaviour}`, async (t) => {
      const subject = await makeSubject(t);
      t.teardown(() => subject.libvirt.close());
      await body(t, withSteps(subject));
    });
  }

  contractTest("reports pools with their sizes", async (t, { libvirt, pool }) => {
    const { pools } = (await libvirt.read()).value;
    const found = pools.find(({ name }) => name === pool);
    t.match(found, { isActive: true, type: String, targetPath: String, uuid: /^[0-9a-f-]{36}$/ });
    t.ok((found?.capacityBytes ?? 0n) >= (found?.freeBytes ?? 1n));
    t.ok((found?.freeBytes ?? 0n) > gibibyte);
  });

  contractTest("a volume exists from its creation until it is deleted", async (t, subject) => {
    const { libvirt, pool, createVolume, deleteVolume, volume } = subject;
    await createVolume("disk.qcow2", 100n * mebibyte);
    t.match(await volume("disk.qcow2"), { sizeBytes: 100n * mebibyte, path: /\/disk\.qcow2$/ });
    t.equal(await reasonOf(createVolume("disk.qcow2", mebibyte)), "STORAGE_VOLUME_EXISTS");
    t.equal((await volume("disk.qcow2"))?.sizeBytes, 100n * mebibyte);
    await createVolume("disk.img", mebibyte, { format: "raw" });
    await createVolume("whole.img", mebibyte, { format: "raw", isPreallocated: true });
    t.equal((await volume("whole.img"))?.storedBytes, mebibyte);
    const whole = createVolume("whole.qcow2", mebibyte, { format: "qcow2", isPreallocated: true });
    t.equal(await reasonOf(whole), "INVALID_FIELD", "for raw volumes only");
    t.ok(await libvirt.hasVolume(pool, "disk.qcow2"));
    await deleteVolume("disk.qcow2");
    t.equal(await volume("disk.qcow2"), undefined);
    t.notOk(await libvirt.hasVolume(pool, "disk.qcow2"));
    t.equal(await reasonOf(deleteVolume("disk.qcow2")), "STORAGE_VOLUME_NOT_FOUND");
    t.ok(await volume("disk.img"));
  });

  contractTest("a backing volume must not be larger than the new volume", async (t, subject) => {
    const { createVolume, volume, backingVolume } = subject;
    const before = await volume(backingVolume);
    await createVolume("disk.qcow2", 2n * gibibyte, { backingVolume });
    t.equal((await volume("disk.qcow2"))?.sizeBytes, 2n * gibibyte);
    t.equal(await reasonOf(createVolume("small.qcow2", mebibyte, { backingVolume })), "INVALID_FIELD");
    const fromAbsent = createVolume("other.qcow2", gibibyte, { backingVolume: "absent.qcow2" });
    t.equal(await reasonOf(fromAbsent), "STORAGE_VOLUME_NOT_FOUND");
    t.equal(await volume("small.qcow2"), undefined);
    t.equal(await volume("other.qcow2"), undefined);
    t.strictSame(await volume(backingVolume), before);
  });

  contractTest("reports volumes with their format, sizes and users", async (t, subject) => {
    const { define, definition, start, volume } = subject;
    const { name, uuid } = definition;
    await define(definition);
    t.match(await volume("bm-1.qcow2"), { format: "qcow2", sizeBytes: 10n * mebibyte });
    t.match(await volume("bm-1.img"), { format: "raw", storedBytes: 10n * mebibyte });
    const [disk, drive] = (await subject.domain())?.disks.map(({ target }) => target) ?? [];
    const user = { name, uuid, isRunning: false };
    t.strictSame((await volume("bm-1.qcow2"))?.users, [{ ...user, target: disk, isReadOnly: false }]);
    t.strictSame((await volume("bm-1.img"))?.users, [{ ...user, target: drive, isReadOnly: true }]);
    t.strictSame((await volume(subject.backingVolume))?.users, []);
    await start();
    t.match((await volume("bm-1.qcow2"))?.users, [{ isRunning: true }]);
  });

  contractTest("a volume is read as it is stored while nothing writes to it", async (t, subject) => {
    const { libvirt, pool, define, definition, start, powerOff, volume } = subject;
    const { signal } = new AbortController();
    const read = (name: string) => lengthOf(libvirt.readVolume(pool, name, signal));
    await define(definition);
    const stored = (await volume("bm-1.qcow2"))?.storedBytes;
    t.equal(await read("bm-1.qcow2"), stored);
    t.equal(await read("bm-1.img"), 10n * mebibyte);
    t.equal(await reasonOf(read("absent")), "STORAGE_VOLUME_NOT_FOUND");
    t.equal(
      await reasonOf(lengthOf(libvirt.readVolume("no-such-pool", "a", signal))),
      "STORAGE_POOL_NOT_FOUND",
    );
    await start();
    t.equal(await reasonOf(read("bm-1.qcow2")), "STORAGE_VOLUME_IN_USE");
    t.equal(await read("bm-1.img"), 10n * mebibyte, "the VM can only read it");
    await powerOff();
    t.equal(await read("bm-1.qcow2"), stored);
    const left = AbortSignal.abort(new InfraError(operationReasons.OPERATION_CANCELLED, "by the test"));
    t.equal(await reasonOf(lengthOf(libvirt.readVolume(pool, "bm-1.qcow2", left))), "OPERATION_CANCELLED");
  });

  contractTest("the read of a volume fails if a VM ran with it meanwhile", async (t, subject) => {
    const { libvirt, pool, define, definition, start, powerOff } = subject;
    const { signal } = new AbortController();
    await define(definition);
    for (const isStopped of [false, true]) {
      const reading = async () => {
        let isStarted = false;
        for await (const _ of libvirt.readVolume(pool, "bm-1.qcow2", signal)) {
          if (!isStarted) {
            isStarted = true;
            await start();
            await (isStopped ? powerOff() : undefined);
          }
        }
      };
      t.equal(await reasonOf(reading()), "STORAGE_VOLUME_IN_USE", isStopped ? "stopped" : "runs");
      await (isStopped ? undefined : powerOff());
    }
  });

  contractTest("a volume is written completely, or the write fails with the reason", async (t, subject) => {
    const { libvirt, pool, createVolume, define, definition, start, powerOff } = subject;
    const { signal } = new AbortController();
    const sizeBytes = 3n * mebibyte + 5n;
    await createVolume("disk.img", sizeBytes, { format: "raw", isPreallocated: true });
    const write = (bytes: bigint, more: Partial<WriteOptions> = {}) => {
      const { name = "disk.img", content = pieces(bytes), stop = signal, onProgress } = more;
      const source = { content, sizeBytes: more.sizeBytes ?? sizeBytes };
      return reasonOf(libvirt.writeVolume(more.pool ?? pool, name, source, stop, onProgress));
    };
    const reported: bigint[] = [];
    t.equal(await write(sizeBytes, { onProgress: (doneBytes) => reported.push(doneBytes) }), undefined);
    t.equal(reported.at(-1), sizeBytes);
    t.ok(reported.every((each, at) => each > (reported[at - 1] ?? 0n)));
    t.equal(await lengthOf(libvirt.readVolume(pool, "disk.img", signal)), sizeBytes);
    t.equal(await write(sizeBytes - 1n), "TOOL_FAILED", "less than specified");
    t.equal(await write(sizeBytes + 1n), "TOOL_FAILED", "more than specified");
    for (const other of [sizeBytes - 1n, sizeBytes + 1n]) {
      t.equal(await write(other, { sizeBytes: other }), "INVALID_FIELD", "not the volume's size");
    }
    const damaged = new InfraError(resticReasons.BACKUP_DAMAGED, "by the test");
    t.equal(await write(0n, { content: pieces(sizeBytes, damaged) }), "BACKUP_DAMAGED");
    t.equal(await write(0n, { content: pieces(sizeBytes, new Error("whatever")) }), "TOOL_FAILED");
    const stopping = new AbortController();
    async function* stuck(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(1_000);
      stopping.abort(new InfraError(operationReasons.OPERATION_CANCELLED, "by the test"));
      await new Promise(() => {});
    }
    t.equal(await write(0n, { content: stuck(), stop: stopping.signal }), "OPERATION_CANCELLED");
    t.equal(await write(sizeBytes, { name: "absent" }), "STORAGE_VOLUME_NOT_FOUND");
    t.equal(await write(sizeBytes, { pool: "no-such-pool" }), "STORAGE_POOL_NOT_FOUND");
    t.equal(await write(sizeBytes), undefined, "a partially written volume can be written again");
    await define(definition);
    await start();
    const drive = { name: "bm-1.img", sizeBytes: 10n * mebibyte };
    t.equal(await write(drive.sizeBytes, drive), "STORAGE_VOLUME_IN_USE");
    await powerOff();
    t.equal(await write(drive.sizeBytes, drive), undefined);
  });

  contractTest("the write of a volume fails if a VM ran with it meanwhile", async (t, subject) => {
    const { libvirt, pool, define, definition, start, powerOff } = subject;
    const sizeBytes = 10n * mebibyte;
    await define(definition);
    for (const isStopped of [false, true]) {
      async function* content(): AsyncGenerator<Uint8Array> {
        yield* pieces(sizeBytes - 1n);
        await start();
        await (isStopped ? powerOff() : undefined);
        yield* pieces(1n);
      }
      const reported: bigint[] = [];
      const written = libvirt.writeVolume(
        pool,
        "bm-1.img",
        { content: content(), sizeBytes },
        new AbortController().signal,
        (doneBytes) => reported.push(doneBytes),
      );
      t.equal(await reasonOf(written), "STORAGE_VOLUME_IN_USE", isStopped ? "stopped" : "runs");
      t.ok(reported.includes(sizeBytes / 2n), "half of the progress when everything is written");
      await (isStopped ? undefined : powerOff());
    }
  });

  contractTest("disks of a running VM are read as of one point in time", async (t, subject) => {
    const { libvirt, define, definition, domain, start, powerOff } = subject;
    const { name, uuid } = definition;
    const { signal } = new AbortController();
    await define(definition);
    const [disk = "", drive = ""] = (await domain())?.disks.map(({ target }) => target) ?? [];
    const request = { name, uuid, targets: [disk], token: "op-1.store" };
    t.equal(await reasonOf(libvirt.beginBackup(request, signal)), "DOMAIN_STATE", "it is off");
    const absent = { ...request, uuid: absentUuid };
    t.equal(await reasonOf(libvirt.beginBackup(absent, signal)), "DOMAIN_NOT_FOUND");
    await libvirt.endBackup(absent);
    await start();
    for (const targets of [[], ["vdz"], [drive]]) {
      t.equal(
        await reasonOf(libvirt.beginBackup({ ...request, targets }, signal)),
        "DOMAIN_STATE",
        `${targets}`,
      );
    }
    const backup = await libvirt.beginBackup(request, signal);
    t.strictSame(backup.disks, [{ target: disk, sizeBytes: 10n * mebibyte }]);
    t.equal(await lengthOf(backup.read(disk, signal)), 10n * mebibyte);
    t.equal(await lengthOf(backup.read(disk, signal)), 10n * mebibyte);
    const left = AbortSignal.abort(new InfraError(operationReasons.OPERATION_CANCELLED, "by the test"));
    t.equal(await reasonOf(lengthOf(backup.read(disk, left))), "OPERATION_CANCELLED");
    const other = { ...request, token: "op-2.store" };
    t.equal(await reasonOf(libvirt.beginBackup(other, signal)), "STORAGE_VOLUME_IN_USE");
    await libvirt.endBackup(other);
    t.equal(
      await lengthOf(backup.read(disk, signal)),
      10n * mebibyte,
      "the backup with another token was not ended",
    );
    await backup.end();
    await backup.end();
    t.equal(await reasonOf(lengthOf(backup.read(disk, signal))), "STORAGE_VOLUME_IN_USE");
    t.strictSame(
      (await libvirt.volumesOf(subject.pool))
        .map((volume) => volume.name)
        .filter((each) => each.startsWith(".")),
      [],
    );

    await libvirt.beginBackup(request, signal);
    const again = await libvirt.beginBackup(request, signal);
    t.equal(
      await lengthOf(again.read(disk, signal)),
      10n * mebibyte,
      "a backup can begin again after an earlier one",
    );
    await powerOff();
    t.equal(
      await reasonOf(lengthOf(again.read(disk, signal))),
      "STORAGE_VOLUME_IN_USE",
      "the VM was stopped",
    );
    await again.end();
  });

  contractTest("a missing pool is STORAGE_POOL_NOT_FOUND", async (t, { libvirt }) => {
    const at = { pool: "no-such-pool", name: "disk" };
    const steps: LibvirtStep[] = [
      { kind: "createVolume", ...at, format: "raw", sizeBytes: mebibyte },
      { kind: "writeSeed", ...at, hostname: "bm-1", instanceId: "i-1" },
      { kind: "deleteVolume", ...at },
      { kind: "refreshPool", pool: "no-such-pool" },
    ];
    for (const step of steps) {
      t.equal(await reasonOf(libvirt.run(step)), "STORAGE_POOL_NOT_FOUND", step.kind);
    }
    t.equal(await reasonOf(libvirt.volumesOf("no-such-pool")), "STORAGE_POOL_NOT_FOUND");
    t.equal(await reasonOf(libvirt.hasVolume("no-such-pool", "a")), "STORAGE_POOL_NOT_FOUND");
  });

  contractTest("refreshes a pool", async (t, { libvirt, pool, backingVolume, volume }) => {
    await libvirt.run({ kind: "refreshPool", pool });
    t.ok(await volume(backingVolume));
    t.ok((await libvirt.read()).value.pools.find(({ name }) => name === pool)?.isActive);
  });

  contractTest("names that lead out of a pool are INVALID_FIELD", async (t, subject) => {
    const { createVolume, define, definition } = subject;
    for (const name of ["", ".", "..", "a/b", "../x", "a\nb", "\u0000", "n".repeat(300)]) {
      t.equal(await reasonOf(createVolume(name, mebibyte)), "INVALID_FIELD", JSON.stringify(name));
    }
    for (const name of ["", ".", "a/b", "a b", "<x>", "-a", "n".repeat(64)]) {
      t.equal(await reasonOf(define({ ...definition, name })), "INVALID_FIELD", JSON.stringify(name));
    }
  });

  contractTest("a seed is created, and can be replaced", async (t, subject) => {
    const { libvirt, pool, volume } = subject;
    const seed = { kind: "writeSeed", pool, name: "bm-1-seed.iso", hostname: "bm-1" } as const;
    await libvirt.run({ ...seed, instanceId: "first" });
    t.ok(((await volume("bm-1-seed.iso"))?.sizeBytes ?? 0n) > 0n);
    await libvirt.run({ ...seed, instanceId: "second" });
    t.ok(await volume("bm-1-seed.iso"));
    const left = AbortSignal.abort(new Error("left"));
    await t.rejects(libvirt.run({ ...seed, name: "left.iso", instanceId: "third" }, left));
    t.equal(await volume("left.iso"), undefined);
  });

  contractTest("a VM is defined as specified", async (t, subject) => {
    const { define, definition, domain, pool, network, hostDevice } = subject;
    await define({ ...definition, network, hostDevices: [hostDevice] });
    t.match(await domain(), {
      name: definition.name,
      uuid: definition.uuid,
      state: "shutOff",
      isPersistent: true,
      vcpuCount: 2,
      memoryBytes: 64n * mebibyte,
      mark: definition.mark,
      filesystems: [],
    });
    const disks = (await domain())?.disks ?? [];
    t.strictSame(
      disks.map(({ source }) => source),
      definition.disks.map(({ volume }) => ({ kind: "volume", pool, volume })),
    );
    t.equal(new Set(disks.map(({ target }) => target)).size, 2);
    const { gpus } = (await subject.libvirt.read()).value;
    const handed = gpus.filter(({ pciAddress }) => pciAddress === hostDevice);
    t.strictSame((await domain())?.gpus, handed);
  });

  contractTest("the objects that a definition names must exist", async (t, subject) => {
    const { define, definition, domain, pool } = subject;
    const disk = { pool, volume: "absent", format: "raw", device: "disk" } as const;
    const absentNetwork = { ...definition, network: "no-such-network" };
    const absentDevice = { ...definition, hostDevices: ["fffe:1f:1f.7"] };
    const absentVolume = { ...definition, disks: [disk] };
    const absentPool = { ...definition, disks: [{ ...disk, pool: "no-such-pool" }] };
    t.equal(await reasonOf(define(absentNetwork)), "NETWORK_NOT_FOUND");
    t.equal(await reasonOf(define(absentDevice)), "NODE_DEVICE_NOT_FOUND");
    t.equal(await reasonOf(define(absentVolume)), "STORAGE_VOLUME_NOT_FOUND");
    t.equal(await reasonOf(define(absentPool)), "STORAGE_POOL_NOT_FOUND");
    t.equal(await domain(), undefined);
  });

  contractTest("a name and a UUID can be used only once", async (t, subject) => {
    const { define, definition, domain } = subject;
    await define(definition);
    t.equal(await reasonOf(define({ ...definition, uuid: randomUUID() })), "DOMAIN_EXISTS");
    t.equal(await reasonOf(define({ ...definition, name: "bm-other" })), "DOMAIN_EXISTS");
    t.equal((await domain())?.uuid, definition.uuid);
    await define({ ...definition, vcpuCount: 1 });
    t.equal((await domain())?.vcpuCount, 1, "the same VM is redefined");
  });

  contractTest("a VM runs from start to power-off", async (t, subject) => {
    const { define, definition, domain, start, powerOff, shutDown } = subject;
    await define(definition);
    t.equal(await reasonOf(powerOff()), "DOMAIN_STATE");
    t.equal(await reasonOf(shutDown()), "DOMAIN_STATE");
    await start();
    t.equal((await domain())?.state, "running");
    t.equal(await reasonOf(start()), "DOMAIN_STATE");
    await powerOff();
    t.match(await domain(), { state: "shutOff", isPersistent: true });
    await start();
    t.equal((await domain())?.state, "running");
    await shutDown();
  });

  contractTest("a VM can be undefined when it is off, and its volumes stay", async (t, subject) => {
    const { define, definition, domain, start, powerOff, undefine, volume } = subject;
    await define(definition);
    await start();
    t.equal(await reasonOf(undefine()), "DOMAIN_STATE");
    await powerOff();
    await undefine();
    t.equal(await domain(), undefined);
    t.equal(await reasonOf(undefine()), "DOMAIN_NOT_FOUND");
    t.ok(await volume("bm-1.qcow2"));
    await define({ ...definition, uuid: randomUUID() });
  });

  contractTest("a VM is identified by both name and UUID", async (t, subject) => {
    const { libvirt, define, definition, domain } = subject;
    await define(definition);
    const wrong = [
      { name: definition.name, uuid: absentUuid },
      { name: "bm-other", uuid: definition.uuid },
    ];
    for (const meant of wrong) {
      for (const step of ["start", "shutDown", "powerOff", "undefine"] as const) {
        t.equal(await reasonOf(libvirt.run({ kind: step, ...meant })), "DOMAIN_NOT_FOUND", step);
      }
    }
    t.equal((await domain())?.state, "shutOff");
  });

  contractTest("VMs are sorted by name", async (t, subject) => {
    const { libvirt, define, definition } = subject;
    for (const name of ["bm-c", "bm-a", "bm-B"]) {
      await define({ ...definition, name, uuid: randomUUID() });
    }
    const names = (await libvirt.read()).value.domains.map(({ name }) => name);
    t.strictSame(names, names.toSorted());
    t.ok(names.length >= 3);
  });

  contractTest("subscribers are notified of each change until they unsubscribe", async (t, subject) => {
    const { libvirt, define, definition, start } = subject;
    await libvirt.read();
    let left = 0;
    const changed = Promise.withResolvers<void>();
    libvirt.subscribe(() => {
      left += 1;
    })();
    t.teardown(libvirt.subscribe(changed.resolve));
    await define(definition);
    await changed.promise;
    const started = Promise.withResolvers<void>();
    t.teardown(
      libvirt.subscribe(async () => {
        const { domains } = (await libvirt.read()).value;
        if (domains.some(({ uuid, state }) => uuid === definition.uuid && state === "running")) {
          started.resolve();
        }
      }),
    );
    await start();
    await started.promise;
    t.equal(left, 0);
  });

  contractTest("reads share a snapshot while nothing changes", async (t, { libvirt, define, definition }) => {
    await define(definition);
    const [first, ...others] = await Promise.all(Array.from({ length: 50 }, () => libvirt.read()));
    t.ok(others.every(({ value }) => value === first?.value));
    t.equal((await libvirt.read()).revision, first?.revision);
    t.equal(
      await reasonOf(define({ ...definition, hostDevices: ["fffe:1f:1f.7"] })),
      "NODE_DEVICE_NOT_FOUND",
    );
    t.equal((await libvirt.read()).revision, first?.revision, "a refused step changed nothing");
  });

  contractTest("a guest that is off is not ready, which is reported in time", async (t, subject) => {
    const { libvirt, define, definition } = subject;
    const { signal } = new AbortController();
    t.equal(await reasonOf(libvirt.isReady("bm-1", { kind: "agent" }, signal)), "DOMAIN_NOT_FOUND");
    await define(definition);
    const beganAtMs = performance.now();
    t.equal(await libvirt.isReady("bm-1", { kind: "agent" }, signal), false);
    t.equal(await libvirt.isReady("bm-1", { kind: "tcp", port: 22 }, signal), false);
    t.ok(performance.now() - beganAtMs < 20_000);
  });

  contractTest("a step is shown as libvirt's function with its objects", async (t, subject) => {
    const { libvirt, definition, pool } = subject;
    const { name, uuid } = definition;
    const steps: [LibvirtStep, RegExp][] = [
      [{ kind: "createVolume", pool, name: "a", format: "raw", sizeBytes: mebibyte }, /^virStorageVolCreate/],
      [{ kind: "writeSeed", pool, name: "a", hostname: "b", instanceId: "c" }, /^virStorageVolUpload$/],
      [{ kind: "deleteVolume", pool, name: "a" }, /^virStorageVolDelete$/],
      [{ kind: "refreshPool", pool }, /^virStoragePoolRefresh$/],
      [{ kind: "define", domain: definition }, /^virDomainDefineXML/],
      [{ kind: "start", name, uuid }, /^virDomainCreate/],
      [{ kind: "shutDown", name, uuid }, /^virDomainShutdown/],
      [{ kind: "powerOff", name, uuid }, /^virDomainDestroy/],
      [{ kind: "undefine", name, uuid }, /^virDomainUndefine/],
    ];
    for (const [step, expected] of steps) {
      const [program = "", ...args] = libvirt.commandOf(step);
      t.match(program, expected);
      const about = "pool" in step ? pool : name;
      t.ok(
        args.some((arg) => arg.includes(about)),
        `${program} names ${about}`,
      );
    }
  });

  contractTest("an inspection returns the version and the networks", async (t, { libvirt, network }) => {
    const { version, findings, networks } = await libvirt.inspect();
    t.ok(networks?.some(({ name }) => name === network));
    t.match(version, /^\d+\.\d+\.\d+/);
    t.equal(await libvirt.version(), version);
    t.ok(findings.length > 0);
    t.ok(findings.every(({ ok, fix }) => ok || fix !== undefined));
    const ofBackups = await libvirt.inspectBackups();
    t.ok(ofBackups.length > 0);
    t.ok(ofBackups.every(({ ok, fix }) => ok || fix !== undefined));
  });
}

async function lengthOf(content: AsyncIterable<Uint8Array>): Promise<bigint> {
  let bytes = 0n;
  for await (const piece of content) {
    bytes += BigInt(piece.length);
  }
  return bytes;
}

/** Yields pieces of this total size, then ends or fails. */
async function* pieces(bytes: bigint, failure?: Error): AsyncGenerator<Uint8Array> {
  const piece = Buffer.alloc(65_536, 7);
  for (let left = bytes; left > 0n; left -= BigInt(piece.length)) {
    yield left < piece.length ? piece.subarray(0, Number(left)) : piece;
  }
  if (failure !== undefined) {
    throw failure;
  }
}

interface WriteOptions {
  readonly pool: string;
  readonly name: string;
  readonly content: AsyncIterable<Uint8Array>;
  readonly sizeBytes: bigint;
  readonly stop: AbortSignal;
  readonly onProgress: (doneBytes: bigint) => void;
}

interface VolumeOptions {
  readonly format?: "qcow2" | "raw";
  readonly isPreallocated?: boolean;
  readonly backingVolume?: string;
}

interface Subject extends ContractSubject {
  /** Definition of a VM `bm-1`; `define` creates its two volumes. */
  readonly definition: DomainDefinition;
  createVolume(name: string, sizeBytes: bigint, options?: VolumeOptions): Promise<void>;
  deleteVolume(name: string): Promise<void>;
  volume(name: string): Promise<LibvirtVolume | undefined>;
  define(domain: DomainDefinition): Promise<void>;
  start(): Promise<void>;
  shutDown(): Promise<void>;
  powerOff(): Promise<void>;
  undefine(): Promise<void>;
  /** The VM `bm-1`. */
  domain(): Promise<LibvirtDomain | undefined>;
}

function withSteps(subject: ContractSubject): Subject {
  const { libvirt, pool } = subject;
  const definition: DomainDefinition = {
    name: "bm-1",
    uuid: randomUUID(),
    vcpuCount: 2,
    memoryBytes: 64n * mebibyte,
    mark: { hypervisorId: "bm-1", operationId: "op-1", createdVolumes: [{ pool, name: "bm-1.qcow2" }] },
    serial: "bm-1",
    disks: [
      { pool, volume: "bm-1.qcow2", format: "qcow2", device: "disk" },
      { pool, volume: "bm-1.img", format: "raw", device: "cdrom" },
    ],
    network: undefined,
    hostDevices: [],
  };
  const { name, uuid } = definition;
  let areVolumesCreated = false;

  async function makeVolumes(): Promise<void> {
    if (!areVolumesCreated) {
      areVolumesCreated = true;
      const common = { kind: "createVolume", pool, sizeBytes: 10n * mebibyte } as const;
      await libvirt.run({ ...common, name: "bm-1.qcow2", format: "qcow2" });
      await libvirt.run({ ...common, name: "bm-1.img", format: "raw" });
    }
  }

  return {
    ...subject,
    definition,
    createVolume: (volumeName, sizeBytes, { format = "qcow2", ...more } = {}) =>
      libvirt.run({ kind: "createVolume", pool, name: volumeName, sizeBytes, format, ...more }),
    deleteVolume: (volumeName) => libvirt.run({ kind: "deleteVolume", pool, name: volumeName }),
    volume: async (volumeName) => (await libvirt.volumesOf(pool)).find((each) => each.name === volumeName),
    async define(domain) {
      await makeVolumes();
      await libvirt.run({ kind: "define", domain });
    },
    start: () => libvirt.run({ kind: "start", name, uuid }),
    shutDown: () => libvirt.run({ kind: "shutDown", name, uuid }),
    powerOff: () => libvirt.run({ kind: "powerOff", name, uuid }),
    undefine: () => libvirt.run({ kind: "undefine", name, uuid }),
    domain: async () => (await libvirt.read()).value.domains.find((each) => each.name === name),
  };
}
