import { type Test, test } from "tap";
import { InfraError } from "../../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../../adapters/host/reasons.ts";
import { libvirtReasons } from "../../../../../../adapters/libvirt/reasons.ts";
import { resticReasons } from "../../../../../../adapters/restic/reasons.ts";
import { createResticSandbox } from "../../../../../../adapters/restic/sandbox.ts";
import { createStepFaults } from "../../../../../../adapters/sandbox/step-faults.ts";
import { BackupService } from "../../../../../../gen/hostplane/v1/backup_pb.ts";
import type { RestoreSpec } from "../../../../../../server/backups/backup-source.ts";
import { namesOfUnfinished } from "../../../../../../server/domains/hypervisors/pool/backups/restore-kind.ts";
import type { Operation } from "../../../../../../server/operations/operation.ts";
import { reasonOf } from "../../../../../adapters/host/reason-of.ts";
import {
  countedRestic,
  createDirectoryHost,
  createPoolBackupsGateway,
  createVolumeGroupHost,
  type DirectoryHost,
  domainWith,
  type PoolHost,
  until,
} from "./pool-backups-under-test.ts";

async function createSubject(t: Test, host: PoolHost) {
  const gateway = await createPoolBackupsGateway(t, host);
  await gateway.backUp();
  const rows = await gateway.rows();
  const source = gateway.shared.backups?.source;
  if (source === undefined) {
    throw new Error("there are no backups");
  }
  const rowOf = (volume: string) => {
    const row = rows.find((one) => one.volume === `storagePool/volumes/${volume}`);
    if (row === undefined) {
      throw new Error(`there is no backup of ${volume}`);
    }
    return row;
  };
  const restore = async (volume: string, facts: Partial<RestoreSpec> = {}) => {
    const spec = { name: "again", deviceClass: "", sizeGb: 0n, tags: [], ...facts };
    const call = gateway.call(BackupService.method.restoreBackup);
    return (await source.restore.begin({ row: rowOf(volume), spec, access: undefined }, call)).operation;
  };
  return { ...gateway, source, rowOf, restore };
}

test("a volume of a directory is restored with its original size", async (t) => {
  const host = await createDirectoryHost(t);
  const { restore, end, source, rowOf, call } = await createSubject(t, host);
  const { id } = await restore("b.qcow2");
  t.match(await end(id), {
    kind: "storagePool.restoreVolume",
    resource: "storagePool/volumes/again",
    state: "completed",
    result: { volume: "storagePool/volumes/again", sizeBytes: 3 << 20 },
  });
  const created = (await host.libvirt.volumesOf("images")).find(({ name }) => name === "again");
  t.match(created, { storedBytes: 3n << 20n, users: [] });
  t.equal(await reasonOf(restore("b.qcow2")), "STORAGE_VOLUME_EXISTS");
  const spec = { name: "third", deviceClass: "", sizeGb: 0n, tags: [] };
  const plan = await source.restore.plan({ row: rowOf("c.raw"), spec, access: undefined }, call());
  t.match(plan, {
    kind: "storagePool.restoreVolume",
    resource: "storagePool/volumes/third",
    pointOfNoReturn: 3,
  });
  t.match(plan.plan.changes, [
    /^the volume third of 2 MiB .* backup pool-.* of storagePool\/volumes\/c\.raw/,
  ]);
});

test("a volume of a volume group is restored under a temporary name, and an equal request joins", async (t) => {
  const host = await createVolumeGroupHost(countedRestic(createResticSandbox({ transferMs: 100 })));
  const { restore, end } = await createSubject(t, host);
  const first = await restore("thin");
  const again = await restore("thin");
  t.equal(again.id, first.id);
  await until(async () => (await host.leftovers()).some((name) => name.startsWith("hostplane-restore-")));
  t.match(await end(first.id), { state: "completed" });
  t.strictSame(await host.volumeNames(), ["again", "one", "thin", "thins", "two"]);
  t.strictSame(await host.leftovers(), [], "no tag of the operation is left");
  t.equal(await reasonOf(restore("thin")), "VOLUME_EXISTS");
  t.equal(await reasonOf(restore("thin", { name: "no/name" })), "INVALID_FIELD");
});

test("device class, size and tags cannot be chosen for a volume of the pool", async (t) => {
  const { restore } = await createSubject(t, await createDirectoryHost(t));
  for (const [facts, field] of [
    [{ deviceClass: "ssd" }, "device_class"],
    [{ sizeGb: 1n }, "size_gb"],
    [{ tags: ["mine"] }, "tags"],
    [{ name: "" }, "volume_name"],
    [{ name: ".hostplane-backup-x" }, "volume_name"],
  ] as const) {
    await t.rejects(restore("c.raw", facts), { reason: "INVALID_FIELD", message: new RegExp(`^${field}: `) });
  }
});

test("a lack of space is reported before anything is created", async (t) => {
  const host = await createDirectoryHost(t);
  const { restore } = await createSubject(t, host);
  const all = { kind: "createVolume", pool: "images", name: "large", format: "raw" } as const;
  host.libvirt.runOutside({ ...all, sizeBytes: 60n << 20n });
  t.equal(await reasonOf(restore("b.qcow2")), "NO_SPACE");
});

test("a volume that is created from outside meanwhile is not deleted", async (t) => {
  const host = await createDirectoryHost(t);
  const { restore, end } = await createSubject(t, host);
  const { run } = host.libvirt;
  let isFirst = true;
  Object.assign(host.libvirt, {
    run: (...args: Parameters<typeof run>) => {
      const [step] = args;
      if (isFirst && step.kind === "createVolume") {
        isFirst = false;
        host.libvirt.runOutside(step);
      }
      return run(...args);
    },
  });
  const { id } = await restore("c.raw");
  t.match(await end(id), { state: "failed", failure: { reason: "STORAGE_VOLUME_EXISTS" } });
  t.ok((await host.volumeNames()).includes("again"), "the foreign volume is kept");
});

test("a failed or cancelled restore leaves no volume", async (t) => {
  for (const isDirectory of [true, false]) {
    let failure: InfraError | undefined;
    let transferMs = 1;
    const restic = countedRestic(
      createResticSandbox({
        transferMs: () => transferMs,
        faults: createStepFaults(({ kind }) =>
          kind === "backup" || kind === "forget" ? undefined : failure,
        ),
      }),
    );
    const host = isDirectory ? await createDirectoryHost(t, restic) : await createVolumeGroupHost(restic);
    const before = await host.volumeNames();
    const { restore, end, operations } = await createSubject(t, host);
    const volume = isDirectory ? "c.raw" : "two";
    failure = new InfraError(resticReasons.BACKUP_DAMAGED, "a pack is missing");
    t.match(await end((await restore(volume)).id), {
      state: "failed",
      failure: { reason: "BACKUP_DAMAGED" },
    });
    t.strictSame(await host.volumeNames(), before);
    failure = undefined;
    // It lasts until it is cancelled.
    transferMs = 600_000;
    const { id } = await restore(volume);
    await until(async () => (await operations.get(id)).step === "fill");
    await operations.cancel(id);
    t.match(await end(id), { state: "cancelled" });
    t.strictSame(await host.volumeNames(), before);
    t.strictSame(await host.leftovers(), []);
  }
});

/** Creates a directory host whose restores fail in `fill`, just after `meanwhile` was called. */
async function createFailing(t: Test, meanwhile: (host: DirectoryHost) => void) {
  let hook: (() => void) | undefined;
  const counted = countedRestic();
  const adapter = {
    ...counted.adapter,
    // biome-ignore lint/correctness/useYield: it fails before the first byte
    async *read(): AsyncGenerator<Uint8Array> {
      hook?.();
      throw new InfraError(resticReasons.BACKUP_DAMAGED, "a pack is missing");
    },
  };
  const host = await createDirectoryHost(t, { ...counted, adapter });
  hook = () => meanwhile(host);
  return { ...(await createSubject(t, host)), host };
}

const user = "6f0c2ad8-17c0-4a5b-9d3a-52b8a40f1d09";

function defineUser({ libvirt }: DirectoryHost): void {
  libvirt.runOutside({ kind: "define", domain: domainWith("user", user, "again") });
}

test("an incomplete volume is deleted even if a VM that is off has it attached", async (t) => {
  const { host, restore, end } = await createFailing(t, defineUser);
  const { id } = await restore("c.raw");
  t.match(await end(id), { state: "failed", failure: { reason: "BACKUP_DAMAGED" } });
  t.notOk((await host.volumeNames()).includes("again"));
});

test("an incomplete volume of a running VM is reported, and not backed up", async (t) => {
  const subject = await createFailing(t, (host) => {
    defineUser(host);
    host.libvirt.runOutside({ kind: "start", name: "user", uuid: user });
  });
  const { host, restore, end, operations, planBackUp, backUp } = subject;
  const { id } = await restore("c.raw");
  t.match(await end(id), {
    state: "needsAttention",
    attention: { left: [/The volume again .* is incomplete/], advice: [/then retry the operation/] },
  });
  t.ok((await host.volumeNames()).includes("again"));
  t.notMatch((await planBackUp()).plan.changes.join(), /again/);
  t.match(await backUp(), { state: "completed", result: { volumeCount: 4 } });
  host.libvirt.runOutside({ kind: "powerOff", name: "user", uuid: user });
  await operations.retry(id);
  t.match(await end(id), { state: "failed" });
  t.notOk((await host.volumeNames()).includes("again"));
  host.libvirt.runOutside({
    kind: "createVolume",
    pool: "images",
    name: "again",
    format: "raw",
    sizeBytes: 5n,
  });
  t.match((await planBackUp()).plan.changes.join(), /again/);
});

test("a volume of unclear origin is neither filled nor deleted", async (t) => {
  const host = await createDirectoryHost(t);
  const { restore, end, planBackUp } = await createSubject(t, host);
  const { run } = host.libvirt;
  Object.assign(host.libvirt, {
    run: async (...args: Parameters<typeof run>) => {
      await run(...args);
      if (args[0].kind === "createVolume") {
        defineUser(host);
        throw new InfraError(libvirtReasons.LIBVIRT_UNAVAILABLE, "it was killed");
      }
    },
  });
  const { id } = await restore("c.raw");
  t.match(await end(id), {
    state: "needsAttention",
    failure: {
      reason: "STORAGE_VOLUME_IN_USE",
      message: /the VM user has it attached, and its origin is unclear/,
    },
  });
  t.ok((await host.volumeNames()).includes("again"));
  t.notMatch((await planBackUp()).plan.changes.join(), /again/);
});

test("a volume that replaces an incomplete one of the same name is backed up", async (t) => {
  const operation = (name: string, state: "done" | "undoFailed") =>
    ({ input: { name }, steps: [{ name: "publish", state }] }) as unknown as Operation;
  const left = operation("a", "undoFailed");
  t.strictSame(namesOfUnfinished([left]), ["a"]);
  t.strictSame(namesOfUnfinished([operation("a", "done"), left]), []);
  t.strictSame(namesOfUnfinished([left, operation("a", "done"), operation("b", "done")]), ["a"]);
});

test("a volume that is being restored is not backed up", async (t) => {
  const counted = countedRestic();
  const { read } = counted.adapter;
  const gate = Promise.withResolvers<void>();
  const adapter = {
    ...counted.adapter,
    async *read(...args: Parameters<typeof read>) {
      await gate.promise;
      yield* read(...args);
    },
  };
  const host = await createDirectoryHost(t, { ...counted, adapter });
  const { restore, end, operations, planBackUp, beginBackup } = await createSubject(t, host);
  const { id } = await restore("c.raw");
  await until(async () => (await operations.get(id)).step === "fill");
  t.ok((await host.volumeNames()).includes("again"));
  const plan = await planBackUp();
  t.equal(plan.plan.changes.length, 4);
  t.notMatch(plan.plan.changes.join(), /again/);
  const backup = await beginBackup();
  t.match(await end(backup.id), { state: "completed", result: { volumeCount: 4 } });
  gate.resolve();
  t.match(await end(id), { state: "completed" });
  t.equal((await planBackUp()).plan.changes.length, 5, "afterwards it is an ordinary volume");
});

test("a renamed volume is backed up even if its mark could not be removed", async (t) => {
  const host = await createVolumeGroupHost();
  const { restore, end, planBackUp } = await createSubject(t, host);
  const { run } = host.lvm;
  Object.assign(host.lvm, {
    run: (...args: Parameters<typeof run>) =>
      args[0].kind === "changeTags"
        ? Promise.reject(new InfraError(hostReasons.TOOL_FAILED, "no room for more metadata"))
        : run(...args),
  });
  const { id } = await restore("two");
  t.match(await end(id), { state: "needsAttention" });
  t.strictSame(await host.leftovers(), ["again"], "it is marked");
  t.match((await planBackUp()).plan.changes.join(), /vgpool\/again/);
});

test("backups of the pool are verified and deleted", async (t) => {
  const host = await createDirectoryHost(t);
  const { source, rowOf, call, end, rows } = await createSubject(t, host);
  const request = { row: rowOf("a.qcow2"), access: undefined };
  const { operation: verified } = await source.verify.begin(request, call());
  t.match(await end(verified.id), { kind: "storagePool.verifyBackup", state: "completed" });
  const { operation: removed } = await source.remove.begin(request, call());
  t.match(await end(removed.id), { kind: "storagePool.deleteBackup", state: "completed" });
  t.equal((await rows()).length, 3);
  t.equal((await host.stored()).length, 3);
});
