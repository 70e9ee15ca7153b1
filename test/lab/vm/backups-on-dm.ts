import assert from "node:assert/strict";
import { constants, openSync, readFileSync } from "node:fs";
import { OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { StateType } from "../../../gen/proto/lvmd_pb.ts";
import { type BackupLab, type BackupLabOptions, openBackupLab } from "./backup-lab.ts";

/** Measurements of a run. Failures are thrown. */
export interface BackupReport {
  /** Milliseconds from the first call to COMPLETE, and from the call to its response. */
  readonly backupMs: number;
  readonly restoreMs: number;
  /** Time of both with a SIGKILL and a restart of the gateway in between; undefined if this was not requested. */
  readonly killedMs: number | undefined;
}

/**
 * Backs up volumes of random bytes to S3 and restores them, and checks the result with LVM and restic. With `isKilled`, also
 * kills the gateway in the middle of both.
 * @throws AssertionError
 */
export async function checkBackups(options: BackupLabOptions): Promise<BackupReport> {
  const { volumeGroup, sizeMib, isKilled } = options;
  const sizeGb = BigInt(Math.ceil(sizeMib / 1024));
  const lab = await openBackupLab(options);
  try {
    await lab.type(`lvcreate -q -y -n data -L ${sizeMib}m ${volumeGroup}
      lvcreate -q -y -n thin -V ${sizeMib}m -T ${volumeGroup}/pool
      for volume in data thin; do head -c ${sizeMib}M /dev/urandom >/dev/${volumeGroup}/$volume; done
      sync`);
    const sums = { data: await lab.sumOf("data"), thin: await lab.sumOf("thin") };
    const before = await lab.volumes();

    /** Asserts that only the named volumes have been added. */
    const assertOnlyNew = async (...names: readonly string[]) => {
      const now = await lab.volumes();
      const isNew = (line: string) => names.some((name) => line.startsWith(`${volumeGroup} ${name} `));
      assert.deepEqual(
        now.filter((line) => !isNew(line)),
        before,
      );
      assert.equal(now.filter(isNew).length, names.length);
      assert.equal(await lab.type("pgrep -l restic || true"), "");
    };

    const backupMs = await timed(async () => {
      // restic locks the repository before it reads anything, and the snapshot is created before restic starts.
      const hold = await lab.hold("PUT", "locks");
      const { state, operationId } = await lab.poll("data", "first");
      assert.equal(state.state, StateType.INPROGRESS, state.msg);
      await hold.untilHeld();
      assert.match(await lab.type("cat /proc/$(pgrep -x restic)/fdinfo/0"), /^pos:\s+0$/m);
      const { operation } = await lab.operations.getOperation({ id: operationId });
      assert.equal(operation?.step, "store");
      // The backup has the volume's content at the time of the call, not at the time of reading.
      await lab.type(`head -c 2M /dev/zero | dd of=/dev/${volumeGroup}/data conv=notrunc oflag=direct bs=1M`);
      await assertSecretsUnseen(lab, options);
      await hold.release();
      const last = await lab.untilBackedUp("data", "first");
      assert.equal(last.state, StateType.COMPLETE, last.msg);
    });
    assert.equal(
      (await lab.poll(`${volumeGroup}/data`, "first")).state.state,
      StateType.COMPLETE,
      "a repeated call returns the same operation",
    );
    await assertOnlyNew();

    const restoreMs = await timed(() =>
      lab.restore({ name: "restored", sizeGb }, { of: "data/first", synchronousRestore: true }),
    );
    assert.equal(await lab.sumOf("restored"), sums.data);
    await assertOnlyNew("restored");

    const killedMs = isKilled ? await timed(() => checkKilled(lab, options, sums)) : undefined;
    const created = isKilled ? ["restored", "again"] : ["restored"];
    await assertOnlyNew(...created);

    await checkOverflow(lab, options);
    await assertOnlyNew(...created);
    const stored: readonly unknown[] = JSON.parse(await lab.type("restic --no-lock --json snapshots"));
    assert.equal(stored.length, isKilled ? 2 : 1, "complete backups, and nothing of incomplete ones");
    return { backupMs, restoreMs, killedMs };
  } finally {
    await lab.end();
  }
}

/** Kills and restarts the gateway during a backup and a restore that cannot finish: both continue, and run once. */
async function checkKilled(
  lab: BackupLab,
  { volumeGroup, sizeMib }: BackupLabOptions,
  sums: { readonly data: string; readonly thin: string },
): Promise<void> {
  const sizeGb = BigInt(Math.ceil(sizeMib / 1024));
  // Neither can finish: no data gets into the repository, and only the beginning of a backup comes out of it.
  const holds = [await lab.hold("PUT", "data"), await lab.hold("GET", "data", 4)];
  const backup = await lab.poll("thin", "killed");
  await lab.untilMoving(backup.operationId, "store");
  const spec = { name: "again", sizeGb, deviceClass: "thin", tags: ["mine"] };
  const restoreId = await lab.restore(spec, { of: "data/first", synchronousRestore: false });
  await lab.untilMoving(restoreId, "fill");
  await Promise.all(holds.map((hold) => hold.untilHeld()));
  const { operation } = await lab.operations.getOperation({ id: restoreId });
  assert.ok((operation?.doneBytes ?? 0n) < (operation?.totalBytes ?? 0n));
  await assertNoDevice(lab, volumeGroup, "again");
  const [temporary = ""] = (await lab.type(`ls /dev/${volumeGroup}/hostplane-restore-*`)).split("\n");
  assertHeld(temporary);

  const processes = (await lab.type("pgrep -x restic")).trim().split("\n");
  assert.equal(processes.length, 2);
  await lab.kill();
  assert.deepEqual(
    (await lab.type("pgrep -x restic")).trim().split("\n"),
    processes,
    "the restic processes survive",
  );
  assertHeld(temporary);
  const left = await lab.volumes();
  assert.equal(left.filter((line) => / hostplane-(backup|restore)-/.test(line)).length, 2);
  await lab.start();
  // They are stopped before anything is repeated.
  await lab.type(`while ps -o pid= -p ${processes.join(",")} >&2; do sleep 0.1; done`);
  await assertNoDevice(lab, volumeGroup, "again");
  await Promise.all(holds.map((hold) => hold.release()));
  const { state, error } = await lab.untilEnded(restoreId);
  assert.equal(state, OperationState.COMPLETED, String(error?.message));
  const last = await lab.untilBackedUp("thin", "killed");
  assert.equal(last.state, StateType.COMPLETE, last.msg);
  assert.equal(
    (await lab.poll("thin", "killed")).operationId,
    backup.operationId,
    "the same operation continued",
  );
  assert.equal(await lab.sumOf("again"), sums.data);
  const dumped = await lab.type("restic --no-lock dump --tag name=killed latest /thin | sha256sum");
  assert.equal(dumped.split(" ")[0], sums.thin);
  const { volumes } = await lab.vg.getLVList({ deviceClass: "thin" });
  const again = volumes.find(({ name }) => name === "again");
  assert.deepEqual(again?.tags, ["mine"]);
  assert.ok((again?.devMajor ?? 0) > 0);
}

/** Overwrites a volume during its backup, so that its snapshot, a tenth of its size, overflows. */
async function checkOverflow(lab: BackupLab, { volumeGroup, sizeMib }: BackupLabOptions): Promise<void> {
  const hold = await lab.hold("PUT", "locks");
  const { operationId } = await lab.poll("data", "overflow");
  await hold.untilHeld();
  await lab.type(`head -c ${sizeMib / 4}M /dev/zero | dd of=/dev/${volumeGroup}/data oflag=direct bs=1M`);
  await hold.release();
  const last = await lab.untilBackedUp("data", "overflow");
  assert.equal(last.state, StateType.ERROR);
  assert.match(last.msg, /snapshotPercent/);
  const { operation } = await lab.operations.getOperation({ id: operationId });
  assert.equal(operation?.state, OperationState.FAILED);
  assert.equal(operation?.error?.reason, "SNAPSHOT_FULL");
}

/** A volume that is being filled is listed, but has no device under its name and cannot be removed. */
async function assertNoDevice(lab: BackupLab, volumeGroup: string, name: string): Promise<void> {
  const { volumes } = await lab.vg.getLVList({ deviceClass: "thin" });
  const shown = volumes.find((volume) => volume.name === name);
  assert.deepEqual([shown?.devMajor, shown?.devMinor], [0, 0]);
  await assert.rejects(lab.type(`ls /dev/${volumeGroup}/${name}`));
  await assert.rejects(lab.lv.removeLV({ name, deviceClass: "thin" }));
}

/** Asserts that a device cannot be mounted, or opened exclusively as a mount does. */
function assertHeld(device: string): void {
  assert.throws(() => openSync(device, constants.O_RDONLY | constants.O_EXCL), { code: "EBUSY" });
}

/** Asserts that neither process arguments nor the gateway's files contain the secrets. */
async function assertSecretsUnseen(lab: BackupLab, { secretAccessKey }: BackupLabOptions): Promise<void> {
  const commands = await lab.type("for pid in $(pgrep -x restic); do tr '\\0' ' ' </proc/$pid/cmdline; done");
  assert.match(commands, /backup/);
  assert.ok(!commands.includes(secretAccessKey));
  // grep reads the key from stdin, so that its own arguments do not contain it.
  const found = await lab.type(`printenv AWS_SECRET_ACCESS_KEY | grep -rlF -f - ${lab.folder} || true`);
  assert.equal(found, "");
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await act();
  return Math.round(performance.now() - startedAtMs);
}

// A program for the virtual machine: node test/lab/vm/backups-on-dm.ts FILE, with the options as JSON in FILE.
const options: BackupLabOptions = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
process.stdout.write(`${JSON.stringify(await checkBackups(options))}\n`);
