import { randomBytes } from "node:crypto";
import { open, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "tap";
import { createLvmSandbox } from "../../../adapters/lvm/sandbox.ts";
import type { ResticAdapter } from "../../../adapters/restic/adapter.ts";
import { createRestic } from "../../../adapters/restic/restic.ts";
import { BackupService } from "../../../gen/hostplane/v1/backup_pb.ts";
import { LVService, StateType } from "../../../gen/lvmd/served/lvmd_pb.ts";
import { reasonToSkip } from "../../adapters/restic/local-repository.ts";
import {
  createGateway,
  createHost,
  gib,
  settings,
  volumeNames,
} from "../../server/domains/volumes/backups/backups-under-test.ts";
import { makeDirectory } from "../../server/store/store-under-test.ts";

const sizeBytes = 8 << 20;

const skip = await reasonToSkip();

/** Wraps the real restic so that files replace the devices of the sandbox's volumes. */
function withFiles(restic: ResticAdapter, directory: string): ResticAdapter {
  const fileOf = (device: string) =>
    join(directory, device.includes("hostplane-restore-") ? "restored" : "data");
  return {
    ...restic,
    backup: (repository, source, options) =>
      restic.backup(
        repository,
        "device" in source ? { ...source, device: fileOf(source.device) } : source,
        options,
      ),
    restore: (repository, snapshot, device, options) =>
      restic.restore(repository, snapshot, fileOf(device), options),
  };
}

test("the real restic stores and restores a volume", { skip, timeout: 170_000 }, async (t) => {
  const directory = await makeDirectory(t);
  const restored = join(directory, "restored");
  const content = randomBytes(sizeBytes);
  await writeFile(join(directory, "data"), content);
  await writeFile(restored, "");
  await truncate(restored, Number(gib));

  const vg0 = { name: "vg0", sizeBytes: 8n * gib, volumes: [{ name: "data", sizeBytes: BigInt(sizeBytes) }] };
  const lvm = createLvmSandbox({ volumeGroups: [vg0] });
  const host = await createHost(t, { lvm, restic: withFiles(createRestic({ progressMs: 20 }), directory) });
  const here = { ...settings, repository: join(directory, "repository"), minimumAgeHours: 0 };
  const gateway = await createGateway(t, host, { settings: here });
  const { listBackups, verifyBackup, deleteBackup } = BackupService.method;
  const from = (path: string, encryptionKey = "") => ({
    synchronousRestore: true,
    type: { case: "s3" as const, value: { encryptionKey, path } },
  });

  const created = await gateway.backUp("monday", "data");
  t.match(created, { state: StateType.COMPLETE, msg: /8 MiB .* the gateway's key key-/ });
  const { operationId } = await gateway.poll("wednesday", "data");
  await gateway.operations.cancel(operationId);
  t.match((await gateway.end(operationId)).state, /^(cancelled|completed)$/);

  const [{ id, snapshotId } = { id: "", snapshotId: "" }] = (
    await gateway.call(listBackups, { name: "monday" })
  ).backups;
  const verified = await gateway.call(verifyBackup, { id });
  t.equal((await gateway.end(verified.operation?.id ?? "")).state, "completed");
  await gateway.close();

  const other = await createGateway(t, host, { settings: here, host: "beta" });
  const selected = from(`#${snapshotId.slice(0, 8)}`);
  const { createLV } = LVService.method;
  const wrong = { name: "wrong", sizeGb: 1n, dataSource: from("", "other") };
  await t.rejects(other.call(createLV, wrong), { name: "InfraError", reason: "REPOSITORY_KEY_WRONG" });
  await other.call(createLV, { name: "again", sizeGb: 1n, dataSource: selected });
  const file = await open(restored);
  const { buffer } = await file.read(Buffer.alloc(sizeBytes), 0, sizeBytes, 0);
  await file.close();
  t.ok(buffer.equals(content), "the same bytes");
  t.ok((await readFile(join(directory, "data"))).equals(content), "the volume is unchanged");
  const none = { name: "none", sizeGb: 1n, dataSource: from("#data/friday") };
  await t.rejects(other.call(createLV, none), { name: "InfraError", reason: "BACKUP_NOT_FOUND" });
  await other.close();

  const last = await createGateway(t, host, { settings: here });
  const { operation } = await last.call(deleteBackup, { id });
  t.equal((await last.end(operation?.id ?? "")).state, "completed");
  await t.rejects(last.call(createLV, { name: "late", sizeGb: 1n, dataSource: selected }), {
    name: "InfraError",
    reason: "BACKUP_NOT_FOUND",
  });
  t.same(await volumeNames(lvm), ["vg0/again", "vg0/data"]);
});
