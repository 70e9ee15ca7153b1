import { type Test, test } from "tap";
import type { Repository, ResticAdapter } from "../../../../adapters/restic/adapter.ts";
import { createResticSandbox } from "../../../../adapters/restic/sandbox.ts";
import { BackupService } from "../../../../gen/hostplane/v1/backup_pb.ts";
import { VolumeService } from "../../../../gen/hostplane/v1/volume_pb.ts";
import { LVService } from "../../../../gen/lvmd/served/lvmd_pb.ts";
import { isLongForm } from "../../../long-form.ts";
import { deathAt } from "../../operations/death-at.ts";
import { createMortalStore } from "../../operations/engine-under-test.ts";
import {
  type BackupsGateway,
  createGateway,
  createHost,
  gib,
  type HostUnderTest,
  stateOfLvm,
  volumeNames,
} from "./backups/backups-under-test.ts";

/** An operation to begin, and what must exist at the end. */
interface Story {
  readonly name: string;
  readonly isCancelled: boolean;
  begin(gateway: BackupsGateway): Promise<string>;
  /** Names of volumes and of backups. */
  readonly done: { readonly volumes: readonly string[]; readonly backups: readonly string[] };
  readonly undone: { readonly volumes: readonly string[]; readonly backups: readonly string[] };
}

const volumesBefore = ["vg0/data", "vg1/pool", "vg1/small"];

/** Lists the backups of the gateway's host. */
async function backupsOf(gateway: BackupsGateway) {
  const { backups } = await gateway.call(BackupService.method.listBackups, { pageSize: 1000 });
  return backups.filter(({ host }) => host === gateway.host);
}

async function beginBackup(gateway: BackupsGateway): Promise<string> {
  return (await gateway.poll("second", "data")).operationId;
}

async function beginRestore(gateway: BackupsGateway): Promise<string> {
  const [{ id } = { id: "" }] = await backupsOf(gateway);
  const request = { id, volumeName: "again", tags: ["mine"] };
  return (await gateway.call(BackupService.method.restoreBackup, request)).operation?.id ?? "";
}

const backup = {
  begin: beginBackup,
  done: { volumes: volumesBefore, backups: ["second", "first"] },
  undone: { volumes: volumesBefore, backups: ["first"] },
};

const restore = {
  begin: beginRestore,
  done: { volumes: ["vg0/again", ...volumesBefore], backups: ["first"] },
  undone: { volumes: volumesBefore, backups: ["first"] },
};

async function beginClone(gateway: BackupsGateway): Promise<string> {
  const request = { source: "data", name: "copy", sizeBytes: 3n * gib, tags: ["mine"] };
  return (await gateway.call(VolumeService.method.cloneVolume, request)).operation?.id ?? "";
}

async function beginWipe(gateway: BackupsGateway): Promise<string> {
  const request = { name: "small", deviceClass: "thin", wipe: true };
  return (await gateway.call(VolumeService.method.deleteVolume, request)).operation?.id ?? "";
}

async function beginMerge(gateway: BackupsGateway): Promise<string> {
  await gateway.call(VolumeService.method.createSnapshot, { source: "data", name: "snap" });
  return (await gateway.call(VolumeService.method.mergeSnapshot, { name: "snap" })).operation?.id ?? "";
}

const clone = {
  begin: beginClone,
  done: { volumes: ["vg0/copy", ...volumesBefore], backups: ["first"] },
  undone: { volumes: volumesBefore, backups: ["first"] },
};

const wipe = {
  begin: beginWipe,
  done: { volumes: ["vg0/data", "vg1/pool"], backups: ["first"] },
  undone: { volumes: volumesBefore, backups: ["first"] },
};

const stories: readonly Story[] = [
  { name: "a backup", isCancelled: false, ...backup },
  { name: "a backup that is cancelled while no gateway runs", isCancelled: true, ...backup },
  { name: "a restore", isCancelled: false, ...restore },
  { name: "a restore that is cancelled while no gateway runs", isCancelled: true, ...restore },
  { name: "a clone", isCancelled: false, ...clone },
  { name: "a clone that is cancelled while no gateway runs", isCancelled: true, ...clone },
  {
    name: "a merge",
    isCancelled: false,
    begin: beginMerge,
    done: { volumes: volumesBefore, backups: ["first"] },
    undone: { volumes: [], backups: [] },
  },
  { name: "wiping a volume", isCancelled: false, ...wipe },
  { name: "wiping a volume that is cancelled while no gateway runs", isCancelled: true, ...wipe },
];

/** Creates a restic with a function that counts the snapshots in its only repository. */
function createCountedRestic() {
  const restic = createResticSandbox({ transferMs: 2 });
  const { signal } = new AbortController();
  let repository: Repository | undefined;
  const counted: ResticAdapter = {
    ...restic,
    ensureRepository(expected, ...rest) {
      repository = expected;
      return restic.ensureRepository(expected, ...rest);
    },
  };
  const storedCount = async () =>
    repository === undefined ? 0 : (await restic.list(repository, [], signal)).length;
  return { restic: counted, storedCount };
}

/**
 * Runs a story with a gateway that dies at boundary number `dieAt`; another gateway continues. Each run uses its own host, so
 * that all runs can share one store.
 */
async function runStory(t: Test, shared: HostUnderTest, story: Story, dieAt: number) {
  const { store, masterKeys } = shared;
  const { restic, storedCount } = createCountedRestic();
  const host = await createHost(t, { store, masterKeys, restic });
  const at = { host: `host-${dieAt}` };
  const requester = await createGateway(t, host, { ...at, isIdle: true });
  const helper = await createGateway(t, host, at);
  await helper.backUp("first", "data");
  await helper.close();
  const id = await story.begin(requester);
  const mortal = createMortalStore(host.store);
  const { died, boundary } = deathAt(mortal, dieAt);
  await createGateway(t, host, {
    ...at,
    store: mortal,
    boundary,
  });
  const ended = requester.end(id);
  const place = await Promise.race([died, ended.then(() => undefined)]);
  if (place !== undefined) {
    if (story.isCancelled) {
      await requester.operations.cancel(id).catch(() => {});
    }
    const heir = await createGateway(t, host, at);
    await requester.end(id);
    await heir.close();
  }
  return { host, requester, operation: await ended, place, stored: await storedCount() };
}

async function leftOf(host: HostUnderTest, gateway: BackupsGateway) {
  const backups = await backupsOf(gateway);
  const { volumes } = await stateOfLvm(host.lvm);
  return {
    volumes: await volumeNames(host.lvm),
    backups: backups.map(({ name }) => name),
    marks: volumes.flatMap(({ tags }) => tags.filter((tag) => tag.startsWith("hostplane"))),
  };
}

for (const story of stories) {
  test(`${story.name} ends correctly wherever its gateway dies`, async (t) => {
    const shared = await createHost(t);
    for (let dieAt = 1; ; dieAt += 1) {
      const { host, requester, operation, place, stored } = await runStory(t, shared, story, dieAt);
      const where = `killed at ${place ?? "nowhere"}`;
      const isDone = operation.state === "completed";
      if (!story.isCancelled) {
        t.ok(isDone, `${where}: ${operation.state} ${operation.failure?.message}`);
      }
      t.match(operation.state, /^(completed|cancelled)$/, where);
      const expected = isDone ? story.done : story.undone;
      t.same(await leftOf(host, requester), { ...expected, marks: [] }, where);
      t.equal(stored, expected.backups.length, `${where}: snapshots in the repository`);
      await requester.call(LVService.method.removeLV, { name: "data" });
      t.notOk((await volumeNames(host.lvm)).includes("vg0/data"), `${where}: the volume is free`);
      if (place === undefined) {
        t.ok(dieAt > (isLongForm ? 10 : 2), `${dieAt - 1} boundaries`);
        return;
      }
    }
  });
}
