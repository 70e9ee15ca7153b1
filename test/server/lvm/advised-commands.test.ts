import { test } from "tap";
import { createLvm } from "../../../adapters/lvm/lvm.ts";
import { createLvmSandbox } from "../../../adapters/lvm/sandbox.ts";
import { createPoolInspector } from "../../../server/domains/hypervisors/doctor/inspect-pool.ts";
import type { PoolTools } from "../../../server/domains/hypervisors/pool/changes/pool-run.ts";
import { createShrinkPool } from "../../../server/domains/hypervisors/pool/changes/shrink-pool.ts";
import type { PoolState } from "../../../server/domains/hypervisors/pool/storage-pool.ts";
import { createVolumeGroupPool } from "../../../server/domains/hypervisors/pool/volume-group-pool.ts";
import { sparesFrom } from "../../../server/domains/hypervisors/pool/volume-group-state.ts";
import type { BackupRun, BackupTools } from "../../../server/domains/volumes/backups/backup-run.ts";
import { snapshotVolumeStep } from "../../../server/domains/volumes/backups/snapshot-steps.ts";
import { createLvmInspector } from "../../../server/domains/volumes/doctor/inspect-lvm.ts";
import { leftOfFilled } from "../../../server/lvm/filled-volume.ts";
import { createShownCommand } from "../../../server/lvm/shown-command.ts";
import { snapshotStep } from "../../../server/lvm/snapshot-volume.ts";
import { createPoolLvm, devices } from "../domains/hypervisors/pool/pool-under-test.ts";

const { commandOf } = createLvm({ systemDir: "/srv/lvm etc" });
const shown = createShownCommand({ commandOf });
const failure = new Error("failed");
const env = "env 'LVM_SYSTEM_DIR=/srv/lvm etc'";

test("commands are shown with a configured LVM_SYSTEM_DIR, quoted for a shell", async (t) => {
  t.equal(shown(["lvremove", "vg0/a"]), `${env} lvremove vg0/a`);
  t.equal(createShownCommand(createLvm())(["lvremove", "vg0/a"]), "lvremove vg0/a");
  t.equal(createShownCommand(createLvmSandbox())(["vgs", "-a"]), "vgs -a");
});

test("advice for operations that need attention contains LVM_SYSTEM_DIR", async (t) => {
  const created = { shown };
  t.match(leftOfFilled(created, { volumeGroup: "vg0", volume: "a" }, "1234", "restore"), {
    advice: [`remove it with \`${env} lvremove vg0/`],
  });
  const input = { volumeGroup: "vg0", volume: "a" };
  const run = { input, operationId: "1234" } as unknown as BackupRun;
  const snapshot = snapshotVolumeStep({ operationVolumes: created } as unknown as BackupTools);
  t.match(snapshot.attention?.(run, failure), { advice: [`remove it with \`${env} lvremove vg0/`] });

  const lvm = { ...createPoolLvm(), commandOf };
  const pool = createVolumeGroupPool({ lvm, volumeGroup: "pool", devices, canMove: true });
  const { steps } = createShrinkPool({ pool } as unknown as PoolTools).kind;
  const chosen = { devices: [{ path: "/dev/b", allocatable: true }], bytes: "1" };
  const adviceOf = (step: string) => {
    const found = steps.find(({ name }) => name === step);
    const attention = found?.attention?.({ output: () => chosen } as never, failure);
    return attention?.advice.join(" ");
  };
  t.match(adviceOf("reserve"), `\`${env} pvchange --allocatable y /dev/b\``);
  t.match(adviceOf("move"), `\`${env} pvmove --abort\``);
});

test("refusals contain LVM_SYSTEM_DIR in their commands", async (t) => {
  const sandbox = createPoolLvm();
  const { value: state } = await sandbox.read();
  const [group] = state.volumeGroups;
  const [volume] = state.volumes;
  if (group === undefined || volume === undefined) {
    throw new Error("the sandbox has neither");
  }
  const inactive = { ...volume, active: false };
  const snapshot = { volume: inactive, group, name: "s", tags: [], percent: 20, configKey: "x", shown };
  t.throws(() => snapshotStep(snapshot), {
    message: `block device; activate it with ${env} lvchange -ay pool/data`,
  });

  const [physicalVolume] = state.physicalVolumes;
  if (physicalVolume === undefined) {
    throw new Error("the sandbox has none");
  }
  const { volumeGroupName: _, ...free } = physicalVolume;
  const unmarked = { ...state, physicalVolumes: [{ ...free, volumeGroupName: undefined }] };
  const facts = await sandbox.devices(["/dev/sandbox/a"]);
  t.match(sparesFrom({ state: unmarked, name: "pool", devices: facts, shown }), [
    { unusable: `free it with \`${env} pvremove /dev/sandbox/a\`` },
  ]);
});

test("the fixes of doctor contain LVM_SYSTEM_DIR in their commands", async (t) => {
  const lvm = { ...createPoolLvm(), commandOf, inspect: async () => ({ version: "2.03", findings: [] }) };
  const classes = [
    { name: "a", volumeGroup: "none", default: true, spareGiB: 0 },
    { name: "b", volumeGroup: "pool", thinPool: "none", default: false, spareGiB: 0 },
  ];
  t.match((await createLvmInspector(lvm, classes).inspect()).findings, [
    { fix: `list the volume groups with sudo ${env} vgs -a; run sudo ${env} vgimport none if` },
    { fix: `sudo ${env} lvcreate --type thin-pool -L SIZE -n none pool` },
  ]);
  const gone = createVolumeGroupPool({ lvm, volumeGroup: "gone", devices: [], canMove: true });
  t.match((await createPoolInspector(gone).inspect()).findings, [
    { fix: `list the volume groups with sudo ${env} vgs -a;` },
  ]);

  const pool = createVolumeGroupPool({
    lvm,
    volumeGroup: "pool",
    devices: ["/dev/sandbox/a"],
    canMove: true,
  });
  const read = async () => {
    const snapshot = await pool.read();
    const missing = snapshot.value.devices.map((device) => ({ ...device, missing: true }));
    const value: PoolState = { ...snapshot.value, devices: missing };
    return { ...snapshot, value };
  };
  t.match((await createPoolInspector({ ...pool, read }).inspect()).findings, [
    { ok: true },
    { fix: new RegExp(`sudo ${env} pvs -a .*; plug it in, then sudo ${env} vgextend --restoremissing pool`) },
  ]);
});
