import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Operation, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { createRandom } from "../../chaos/random.ts";
import { until } from "../../server/harness/until.ts";
import { startGatewayProcess } from "../gateway-process.ts";
import { createStormLives, type StormChange, type StormLives } from "./storm-lives.ts";
import { lvm, type StormLvm } from "./volume-storm.ts";

export interface KillStormOptions extends StormLvm {
  readonly activation: "auto" | "none";
  readonly volumeCount: number;
  readonly clientCount: number;
  /** Number of times that the gateway is killed while the clients change volumes. */
  readonly kills: number;
  /** Chooses the moments of the kills. */
  readonly seed: number;
}

/** Measurements of a storm. Failures are thrown. */
export interface KillStormReport {
  readonly kills: number;
  /** Number of volumes in the end. */
  readonly volumes: number;
  /** Number of changes of each kind. */
  readonly changes: Readonly<Record<string, number>>;
  readonly counts: StormLives["counts"];
  readonly operations: number;
  readonly durationMs: number;
}

const mib = 1n << 20n;
const openStates = [OperationState.SCHEDULED, OperationState.ACTIVE, OperationState.UNDOING];

/**
 * Lets clients create, resize, rename, snapshot, clone, wipe and remove volumes while the gateway is killed again and again. LVM
 * must have exactly the acknowledged volumes in the end. Without device-mapper there are no snapshots, clones and wipes.
 * @throws AssertionError when a volume is lost, unexpected, open, or not active, or an operation has not completed
 */
export async function runVolumeKillStorm(options: KillStormOptions): Promise<KillStormReport> {
  const startedAtMs = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "hostplane-kill-storm-"));
  const { volumeGroup, activation, systemDir, clientCount } = options;
  const hasDevices = activation === "auto";
  if (hasDevices) {
    await lvm(options, ["lvcreate", "-q", "--yes", "-T", "-L", "2g", "-n", "pool", volumeGroup]);
  }
  const lives = await createStormLives(() =>
    startGatewayProcess(join(folder, "hostplane.yaml"), {
      deviceClasses: [
        { name: "thick", volumeGroup, default: true, spareGiB: 0 },
        ...(hasDevices ? [{ name: "thin", volumeGroup, thinPool: "pool", overprovision: 10 }] : []),
      ],
      lvm: { activation, ...(systemDir === undefined ? {} : { systemDir }) },
    }),
  );
  try {
    const storm = createStorm(lives, hasDevices);
    let next = 0;
    const work = async (client: number) => {
      while (next < options.volumeCount) {
        await storm.liveOf(client, next++);
      }
    };
    const working = Promise.all(Array.from({ length: clientCount }, (_, client) => work(client)));
    const [kills] = await Promise.all([killRepeatedly(lives, working, options), working]);
    const operations = await checkOperations(lives);
    await checkVolumes(lives, options, storm.expected);
    return {
      kills,
      volumes: storm.expected.size,
      changes: storm.changes,
      counts: lives.counts,
      operations,
      durationMs: Math.round(performance.now() - startedAtMs),
    };
  } finally {
    await lives.stop();
    rmSync(folder, { recursive: true });
  }
}

/** Creates the lives of volumes, which all end in a state that does not depend on the kills. */
function createStorm(lives: StormLives, hasDevices: boolean) {
  /** Sizes by name, of the volumes whose creation was acknowledged, without the removed ones. */
  const expected = new Map<string, bigint>();
  const changes: Record<string, number> = {};

  async function change<T>(kind: string, client: number, one: StormChange<T>): Promise<void> {
    await lives.change(client, one);
    changes[kind] = (changes[kind] ?? 0) + 1;
  }

  async function remove(client: number, name: string, deviceClass: string, wipe: boolean): Promise<void> {
    await change(wipe ? "wipe" : "remove", client, {
      send: ({ volumes }, options) => volumes.deleteVolume({ name, deviceClass, wipe }, options),
      madeReasons: ["VOLUME_NOT_FOUND", "OPERATION_CONFLICT"],
    });
    await untilFree(lives, client, name);
    expected.delete(name);
  }

  async function copy(client: number, index: number, source: string, deviceClass: string, sizeBytes: bigint) {
    const isSnapshot = index % 4 === 1;
    const name = `${isSnapshot ? "copy" : "clone"}-${index}`;
    const request = { source, name, deviceClass };
    await change(isSnapshot ? "snapshot" : "clone", client, {
      send: async ({ volumes }, options) =>
        isSnapshot ? volumes.createSnapshot(request, options) : volumes.cloneVolume(request, options),
      madeReasons: ["VOLUME_EXISTS", "OPERATION_CONFLICT"],
    });
    await untilFree(lives, client, name);
    expected.set(name, sizeBytes);
    if (index % 8 === 1) {
      await remove(client, name, deviceClass, false);
    }
  }

  /** The life of one volume, which its index determines. */
  async function liveOf(client: number, index: number): Promise<void> {
    let name = `storm-${index}`;
    let sizeBytes = 8n * mib;
    const deviceClass = hasDevices && index % 3 === 0 ? "thin" : "thick";
    await change("create", client, {
      send: ({ volumes }, options) =>
        volumes.createVolume({ name, deviceClass, sizeBytes, tags: ["storm"] }, options),
      madeReasons: ["VOLUME_EXISTS"],
    });
    expected.set(name, sizeBytes);
    if (index % 2 === 0) {
      const newName = `renamed-${index}`;
      await change("rename", client, {
        send: ({ volumes }, options) => volumes.renameVolume({ name, deviceClass, newName }, options),
        madeReasons: ["VOLUME_NOT_FOUND"],
      });
      expected.delete(name);
      name = newName;
      expected.set(name, sizeBytes);
    }
    if (index % 3 !== 1) {
      sizeBytes = 16n * mib;
      await change("resize", client, {
        send: ({ volumes }, options) => volumes.resizeVolume({ name, deviceClass, sizeBytes }, options),
        madeReasons: [],
      });
      expected.set(name, sizeBytes);
    }
    if (hasDevices && index % 2 === 1) {
      await copy(client, index, name, deviceClass, sizeBytes);
    }
    if (index % 5 === 0) {
      const snapshot = `copy-${index}`;
      if (expected.has(snapshot)) {
        await remove(client, snapshot, deviceClass, false);
      }
      await remove(client, name, deviceClass, hasDevices && index % 10 === 0);
    }
  }

  return { expected, changes, liveOf };
}

/** Kills the gateway after random numbers of answers, until the work is done. Returns the number of kills. */
async function killRepeatedly(
  lives: StormLives,
  working: Promise<unknown>,
  { kills, volumeCount, seed }: KillStormOptions,
): Promise<number> {
  const random = createRandom(seed);
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  working.then(over, over);
  // A volume gets at least two answers.
  const mostAnswers = Math.floor((2 * volumeCount) / kills);
  for (let killed = 0; killed < kills; killed += 1) {
    const target = lives.counts.answered + random.int(1, mostAnswers);
    await until(() => isOver || lives.counts.answered >= target);
    if (isOver) {
      return killed;
    }
    await lives.killAndStart();
  }
  return kills;
}

/** Resolves when no operation works on a volume. */
function untilFree(lives: StormLives, client: number, name: string): Promise<void> {
  return until(async () => {
    const left = await operationsOf(lives, client, openStates);
    return !left.some(({ resource }) => resource.endsWith(`/volumes/${name}`));
  });
}

async function operationsOf(
  lives: StormLives,
  client: number,
  states: OperationState[],
): Promise<readonly Operation[]> {
  const found: Operation[] = [];
  for (let pageToken = ""; ; ) {
    const page = await lives.read(client, ({ operations }) =>
      operations.listOperations({ states, pageSize: 1_000, pageToken }),
    );
    found.push(...page.operations);
    if (page.nextPageToken === "") {
      return found;
    }
    pageToken = page.nextPageToken;
  }
}

/** Waits until all operations have ended, and checks that all have completed. Returns their number. */
async function checkOperations(lives: StormLives): Promise<number> {
  await until(async () => (await operationsOf(lives, 0, openStates)).length === 0);
  const all = await operationsOf(lives, 0, []);
  const others = all.filter(({ state }) => state !== OperationState.COMPLETED);
  assert.deepEqual(
    others.map(({ kind, resource, state }) => `${kind} of ${resource} is in state ${state}`),
    [],
  );
  return all.length;
}

/** Compares the gateway's list, LVM and device-mapper with the expected volumes. */
async function checkVolumes(
  lives: StormLives,
  options: KillStormOptions,
  expected: ReadonlyMap<string, bigint>,
): Promise<void> {
  const { volumeGroup, activation } = options;
  const hasDevices = activation === "auto";
  const linesWith = (state: string) => [...expected].map((one) => `${one.join(" ")} ${state}`.trim()).sort();
  const { volumes } = await lives.read(0, (clients) => clients.volumes.listVolumes({}));
  const listed = volumes.map(({ name, sizeBytes, active, open }) =>
    `${name} ${sizeBytes} ${active ? "active" : ""} ${open ? "open" : ""}`.trim(),
  );
  assert.deepEqual(
    listed.sort(),
    linesWith(hasDevices ? "active" : ""),
    "the gateway lists what was acknowledged",
  );
  const report = await lvm(options, [
    ...["lvs", "--all", "--noheadings", "--units", "b", "--nosuffix", "--separator", ","],
    ...[
      "-o",
      "lv_name,lv_size,origin_size,lv_active,lv_device_open",
      "-S",
      'lv_name!~"pool|pmspare"',
      volumeGroup,
    ],
  ]);
  // The size of a copy-on-write snapshot itself is its space for differences.
  const real = report.split("\n").flatMap((line) => {
    const [name = "", sizeBytes, originBytes, ...states] = line.trim().split(",");
    return name === "" ? [] : [`${name} ${originBytes || sizeBytes} ${states.join(" ")}`.trim()];
  });
  const required = linesWith(hasDevices ? "active" : "unknown unknown");
  assert.deepEqual(real.sort(), required, "LVM has what was acknowledged");
  const mounts = readFileSync("/proc/self/mountinfo", "utf8");
  assert.ok(!mounts.includes(`/${volumeGroup.replaceAll("-", "--")}-`), "nothing is mounted");
}

// In the virtual machine this is a program: node test/lab/lvm/volume-kill-storm.ts OPTIONS-AS-JSON
if (import.meta.main) {
  const report = await runVolumeKillStorm(JSON.parse(process.argv[2] ?? "{}"));
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
