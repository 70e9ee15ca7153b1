import assert from "node:assert/strict";
import { constants, openSync, readFileSync } from "node:fs";
import { OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { StateType } from "../../gen/proto/lvmd_pb.ts";
import { type BackupLab, type BackupLabOptions, openBackupLab } from "./backup-lab.ts";

/** What a run measured; what it found wrong it throws. */
export interface BackupReport {
  /** From the first call to COMPLETE, and from the call to the answer; milliseconds. */
  readonly backupMs: number;
  readonly restoreMs: number;
  /** The same with a SIGKILL and a restart of the gateway in the middle. */
  readonly killedBackupMs: number;
  readonly killedRestoreMs: number;
}

/**
 * Backs up volumes of random bytes to S3 and restores them, also with the gateway killed in the middle of both, and looks
 * with LVM and restic at what is there afterwards.
 * @throws AssertionError
 */
export async function checkBackups(options: BackupLabOptions): Promise<BackupReport> {
  const { volumeGroup, sizeMib } = options;
  const sizeGb = BigInt(Math.ceil(sizeMib / 1024));
  const lab = await openBackupLab(options);
  try {
    await lab.type(`lvcreate -q -y -n data -L ${sizeMib}m ${volumeGroup}
      lvcreate -q -y -n thin -V ${sizeMib}m -T ${volumeGroup}/pool
      for volume in data thin; do head -c ${sizeMib}M /dev/urandom >/dev/${volumeGroup}/$volume; done
      sync`);
    const sums = { data: await lab.sumOf("data"), thin: await lab.sumOf("thin") };
    const before = await lab.volumes();

    /** Nothing is left of what was done but the volumes named. */
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
      const { state, operationId } = await lab.poll("data", "first");
      assert.equal(state.state, StateType.INPROGRESS, state.msg);
      await lab.untilAmid(operationId, "store");
      // What the volume held when it was asked for is stored, not what it holds at the end.
      await lab.type(`head -c 2M /dev/zero | dd of=/dev/${volumeGroup}/data conv=notrunc oflag=direct bs=1M`);
      await assertSecretsUnseen(lab, options);
      const last = await lab.untilBackedUp("data", "first");
      assert.equal(last.state, StateType.COMPLETE, last.msg);
    });
    assert.equal(
      (await lab.poll(`${volumeGroup}/data`, "first")).state.state,
      StateType.COMPLETE,
      "it repeats",
    );
    await assertOnlyNew();

    const restoreMs = await timed(() =>
      lab.restore({ name: "restored", sizeGb }, { of: "data/first", synchronousRestore: true }),
    );
    assert.equal(await lab.sumOf("restored"), sums.data);
    await assertOnlyNew("restored");

    const killedBackupMs = await timed(async () => {
      const { operationId } = await lab.poll("thin", "killed");
      await lab.untilAmid(operationId, "store");
      await lab.kill();
      // Otherwise it may well end before the next gateway has looked: then nothing would be left to do.
      await lab.type("pkill -STOP -x restic");
      assert.equal(
        (await lab.volumes()).filter((line) => / hostplane-backup-\S+ \S+ thin /.test(line)).length,
        1,
      );
      await lab.start();
      const last = await lab.untilBackedUp("thin", "killed");
      assert.equal(last.state, StateType.COMPLETE, last.msg);
      assert.equal((await lab.poll("thin", "killed")).operationId, operationId, "the same went on");
    });
    await assertOnlyNew("restored");

    const killedRestoreMs = await timed(async () => {
      const request = { name: "again", sizeGb, deviceClass: "thin", tags: ["mine"] };
      const operationId = await lab.restore(request, { of: "thin", synchronousRestore: false });
      await lab.untilAmid(operationId, "fill");
      await assertNoDevice(lab, volumeGroup, "again");
      const [temporary = ""] = (await lab.type(`ls /dev/${volumeGroup}/hostplane-restore-*`)).split("\n");
      assert.throws(() => openSync(temporary, constants.O_RDONLY | constants.O_EXCL), { code: "EBUSY" });
      await lab.kill();
      await lab.start();
      await assertNoDevice(lab, volumeGroup, "again");
      const { state, error } = await lab.untilEnded(operationId);
      assert.equal(state, OperationState.COMPLETED, error?.message);
    });
    assert.equal(await lab.sumOf("again"), sums.thin);
    await assertOnlyNew("restored", "again");
    const { volumes } = await lab.vg.getLVList({ deviceClass: "thin" });
    const again = volumes.find(({ name }) => name === "again");
    assert.deepEqual(again?.tags, ["mine"]);
    assert.ok((again?.devMajor ?? 0) > 0);

    await checkOverflow(lab, options);
    await assertOnlyNew("restored", "again");
    const stored: readonly unknown[] = JSON.parse(await lab.type("restic --no-lock --json snapshots"));
    assert.equal(stored.length, 2, "the backups that are complete, and nothing of those that were not");
    return { backupMs, restoreMs, killedBackupMs, killedRestoreMs };
  } finally {
    await lab.end();
  }
}

/** A volume that is overwritten during its backup, so that the snapshot of a tenth of its size cannot hold it. */
async function checkOverflow(lab: BackupLab, { volumeGroup, sizeMib }: BackupLabOptions): Promise<void> {
  const { operationId } = await lab.poll("data", "overflow");
  await lab.untilAmid(operationId, "store");
  await lab.type(`head -c ${sizeMib}M /dev/zero | dd of=/dev/${volumeGroup}/data oflag=direct bs=1M`);
  const last = await lab.untilBackedUp("data", "overflow");
  assert.equal(last.state, StateType.ERROR);
  assert.match(last.msg, /snapshotPercent/);
  const { operation } = await lab.operations.getOperation({ id: operationId });
  assert.equal(operation?.state, OperationState.FAILED);
  assert.equal(operation?.error?.reason, "SNAPSHOT_FULL");
}

/** A volume that is being filled is told of, but has no device by its name, and is not removed. */
async function assertNoDevice(lab: BackupLab, volumeGroup: string, name: string): Promise<void> {
  const { volumes } = await lab.vg.getLVList({ deviceClass: "thin" });
  const shown = volumes.find((volume) => volume.name === name);
  assert.deepEqual([shown?.devMajor, shown?.devMinor], [0, 0]);
  await assert.rejects(lab.type(`ls /dev/${volumeGroup}/${name}`));
  await assert.rejects(lab.lv.removeLV({ name, deviceClass: "thin" }));
}

/** No process shows the secrets in its arguments, and the gateway's files do not hold them. */
async function assertSecretsUnseen(lab: BackupLab, { secretAccessKey }: BackupLabOptions): Promise<void> {
  const commands = await lab.type("for pid in $(pgrep -x restic); do tr '\\0' ' ' </proc/$pid/cmdline; done");
  assert.match(commands, /backup/);
  assert.ok(!commands.includes(secretAccessKey));
  // The key is a pattern on stdin, so that grep itself does not show it.
  const found = await lab.type(`printenv AWS_SECRET_ACCESS_KEY | grep -rlF -f - ${lab.folder} || true`);
  assert.equal(found, "");
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await act();
  return Math.round(performance.now() - startedAtMs);
}

// A program for the virtual machine: node test/lab/backups-on-dm.ts FILE, which holds the options as JSON.
const options: BackupLabOptions = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
process.stdout.write(`${JSON.stringify(await checkBackups(options))}\n`);
