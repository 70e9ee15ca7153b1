import { type Test, test } from "tap";
import type { ResticAdapter } from "../../../../../../adapters/restic/adapter.ts";
import { BackupService } from "../../../../../../gen/hostplane/v1/backup_pb.ts";
import type { PoolVolumesSystem } from "../../../../../../server/domains/hypervisors/pool/backups/pool-backups.ts";
import type { Store } from "../../../../../../server/store/store.ts";
import { isLongForm } from "../../../../../long-form.ts";
import { deathAt } from "../../../../operations/death-at.ts";
import { createMortalStore } from "../../../../operations/engine-under-test.ts";
import { openOwnStore } from "../../../../store/own-store.ts";
import {
  countedRestic,
  createDirectoryHost,
  createPoolBackupsGateway,
  createVolumeGroupHost,
  type PoolBackupsGateway,
  type PoolHost,
} from "./pool-backups-under-test.ts";

interface Story {
  readonly name: string;
  readonly isCancelled: boolean;
  readonly isRestore: boolean;
  readonly createHost: (t: Test, restic: ReturnType<typeof countedRestic>) => Promise<PoolHost>;
  /** Number of volumes. */
  readonly volumeCount: number;
}

const hosts = [
  { where: "a directory", createHost: createDirectoryHost, volumeCount: 4 },
  {
    where: "a volume group",
    createHost: (_: Test, restic: ReturnType<typeof countedRestic>) => createVolumeGroupHost(restic),
    volumeCount: 3,
  },
];

const stories: readonly Story[] = hosts.flatMap(({ where, ...host }) =>
  [false, true].flatMap((isRestore) =>
    [false, true].map((isCancelled) => ({
      name: `${isRestore ? "a restore into" : "a backup of"} ${where}${isCancelled ? " that is cancelled while no gateway runs" : ""}`,
      isCancelled,
      isRestore,
      ...host,
    })),
  ),
);

async function restoreFirst(gateway: PoolBackupsGateway): Promise<string> {
  const [row] = await gateway.rows();
  const source = gateway.shared.backups?.source;
  if (row === undefined || source === undefined) {
    throw new Error("there is no backup");
  }
  const spec = { name: "again", deviceClass: "", sizeGb: 0n, tags: [] };
  const call = gateway.call(BackupService.method.restoreBackup);
  return (await source.restore.begin({ row, spec, access: undefined }, call)).operation.id;
}

/** Adds a boundary before and after each transfer, at which the gateway may die as well. */
function mortalRestic(restic: ResticAdapter, boundary: (name: string) => Promise<void> | undefined) {
  const around =
    <Args extends unknown[], Result>(name: string, act: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      await boundary(`before ${name}`);
      const result = await act(...args);
      await boundary(`after ${name}`);
      return result;
    };
  return {
    ...restic,
    backup: around("restic backup", restic.backup),
    restore: around("restic restore", restic.restore),
    forget: around("restic forget", restic.forget),
  };
}

/** Wraps a system so that calls of a dead gateway never return. */
function whileAlive<System extends object>(system: System, isDead: () => boolean): System {
  return new Proxy(system, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      return typeof member !== "function"
        ? member
        : (...args: unknown[]) => (isDead() ? new Promise(() => {}) : member(...args));
    },
  });
}

function systemWhileAlive(system: PoolVolumesSystem, isDead: () => boolean): PoolVolumesSystem {
  return system.kind === "directory"
    ? { ...system, libvirt: whileAlive(system.libvirt, isDead) }
    : { ...system, lvm: whileAlive(system.lvm, isDead) };
}

/** Runs a story with a gateway that dies at boundary number `dieAt`; another gateway continues. */
async function runStory(t: Test, store: Store, story: Story, dieAt: number) {
  const counted = countedRestic();
  const host = await story.createHost(t, counted);
  const at = { host: `host-${dieAt}`, store };
  const requester = await createPoolBackupsGateway(t, host, { ...at, isIdle: true });
  if (story.isRestore) {
    const helper = await createPoolBackupsGateway(t, host, at);
    await helper.backUp();
    await helper.close();
  }
  const volumesBefore = await host.volumeNames();
  const id = story.isRestore ? await restoreFirst(requester) : (await requester.beginBackup()).id;
  const mortal = createMortalStore(store);
  const { died, boundary } = deathAt(mortal, dieAt);
  const isDead = () => mortal.isDead;
  const restic = mortalRestic(whileAlive(host.restic, isDead), boundary);
  const system = systemWhileAlive(host.system, isDead);
  await createPoolBackupsGateway(t, host, { ...at, store: mortal, boundary, restic, system });
  const ended = requester.end(id);
  const place = await Promise.race([died, ended.then(() => undefined)]);
  if (place !== undefined) {
    if (story.isCancelled) {
      await requester.operations.cancel(id).catch(() => {});
    }
    const heir = await createPoolBackupsGateway(t, host, at);
    await requester.end(id);
    await heir.close();
  }
  return { host, requester, operation: await ended, place, volumesBefore };
}

for (const story of stories) {
  test(`${story.name} ends correctly wherever its gateway dies`, async (t) => {
    const store = await openOwnStore(t);
    for (let dieAt = 1; ; dieAt += 1) {
      const { host, requester, operation, place, volumesBefore } = await runStory(t, store, story, dieAt);
      const where = `killed at ${place ?? "nowhere"}`;
      const isDone = operation.state === "completed";
      if (!story.isCancelled) {
        t.ok(isDone, `${where}: ${operation.state} ${operation.failure?.message}`);
      }
      t.match(operation.state, /^(completed|cancelled)$/, where);
      const expected = isDone || story.isRestore ? story.volumeCount : 0;
      const stored = (await host.stored()).map(({ fileName }) => fileName);
      t.equal(stored.length, expected, `${where}: snapshots in the repository: ${stored}`);
      t.equal(new Set(stored).size, stored.length, where);
      t.equal((await requester.rows()).length, expected, `${where}: listed backups`);
      t.strictSame(await host.leftovers(), [], where);
      const volumes = story.isRestore && isDone ? ["again", ...volumesBefore] : volumesBefore;
      t.strictSame((await host.volumeNames()).toSorted(), volumes.toSorted(), where);
      if (place === undefined) {
        t.ok(dieAt > (isLongForm ? 8 : 3), `${dieAt - 1} boundaries`);
        return;
      }
    }
  });
}
