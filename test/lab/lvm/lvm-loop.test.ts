import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import tap, { test } from "tap";
import { run } from "../../../adapters/host/process/run.ts";
import type { ToolEnd } from "../../../adapters/host/process/tool-result.ts";
import { createLvm } from "../../../adapters/lvm/lvm.ts";
import { devicePathOf } from "../../../adapters/lvm/names.ts";
import { reasonOf } from "../../adapters/host/reason-of.ts";
import { testLvmContract } from "../../adapters/lvm/contract.ts";
import { testDeviceContract } from "../../adapters/lvm/device-contract.ts";
import { testThinContract } from "../../adapters/lvm/thin-contract.ts";
import { loopActivation, makeLoopVolumeGroups, reasonToSkip } from "./loop-volume-group.ts";

const skip = await reasonToSkip();
const extent = 4n << 20n;

// An lvm command takes a second or more in an emulated machine, and many on a busy host.
tap.setTimeout(1_700_000);

async function until(condition: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    if (await condition()) {
      return true;
    }
    if (performance.now() > endMs) {
      return false;
    }
    await sleep(5);
  }
}

if (skip !== undefined) {
  test("LVM on loop devices", { skip }, async () => {});
} else {
  testLvmContract("LVM on a loop device", async (t) => {
    const { names, options, extentCount } = await makeLoopVolumeGroups(t);
    const volumeGroupName = names[0] ?? "";
    return {
      lvm: createLvm(options),
      volumeGroupName,
      extentCount,
      activates: options.activation === "auto",
    };
  });

  testDeviceContract("LVM on loop devices", async (t) => {
    const { names, options, spares } = await makeLoopVolumeGroups(t, 1, 50, 3);
    const created = await run(["mkfs.ext4", "-q", spares[2] ?? ""], { kind: "mutate" });
    t.equal(created.exitCode, 0, created.stderr);
    return {
      lvm: createLvm(options),
      volumeGroupName: names[0] ?? "",
      spares,
      activates: options.activation === "auto",
    };
  });

  if ((await loopActivation()) === "auto") {
    testThinContract("LVM on a loop device", async (t) => {
      const { names, options, shell } = await makeLoopVolumeGroups(t);
      const [volumeGroupName = ""] = names;
      await shell("lvcreate", "--yes", "--type", "thin-pool", "-L80m", "-n", "pool", volumeGroupName);
      return { lvm: createLvm(options), volumeGroupName, thinPoolName: "pool" };
    });

    test("an overflowed snapshot is noticed by the next refresh, and can be removed", async (t) => {
      const { names, options } = await makeLoopVolumeGroups(t);
      const [volumeGroupName = ""] = names;
      const lvm = createLvm(options);
      const at = (name: string) => ({ volumeGroupName, name });
      const snap = async () => (await lvm.refresh()).value.volumes.find(({ name }) => name === "the-snap");
      await lvm.run({ kind: "create", ...at("the-data"), sizeBytes: 4n * extent, tags: [] });
      const snapshot = { ...at("the-snap"), originName: "the-data", tags: [], roomBytes: extent };
      await lvm.run({ kind: "snapshot", ...snapshot });
      t.match(await snap(), { health: "ok" });
      await writeFile(devicePathOf(volumeGroupName, "the-data"), Buffer.alloc(8 << 20, 1), { flush: true });
      t.match(await snap(), { health: "invalidSnapshot", dataPercent: 100 });
      await t.rejects(readFile(devicePathOf(volumeGroupName, "the-snap")), { code: "EIO" });
      await lvm.run({ kind: "remove", ...at("the-snap") });
      await lvm.run({ kind: "remove", ...at("the-data") });
      await lvm.close();
    });
  }

  test("a thousand readers cause one lvm, and later ones none", async (t) => {
    const { options } = await makeLoopVolumeGroups(t);
    const ends: ToolEnd[] = [];
    const lvm = createLvm({ ...options, onToolEnd: (end) => ends.push(end) });
    await Promise.all(Array.from({ length: 1_000 }, () => lvm.read()));
    await sleep(200);
    await Promise.all(Array.from({ length: 1_000 }, () => lvm.read()));
    const commands = ends.map(({ argv }) => argv[1]);
    t.strictSame(
      commands,
      ["lvmconfig", "fullreport"],
      "one query for the location of the backups, and one read",
    );
    await lvm.close();
  });

  test("a change from a shell reaches a subscriber, and nothing is read after that", async (t) => {
    const { names, options, shell } = await makeLoopVolumeGroups(t);
    const [group = ""] = names;
    const ends: ToolEnd[] = [];
    const lvm = createLvm({ ...options, onToolEnd: (end) => ends.push(end) });
    await lvm.read();
    let calls = 0;
    lvm.subscribe(() => {
      calls += 1;
    });
    const typed: [string[], (names: string[]) => boolean][] = [
      [
        ["lvcreate", "-an", "-Zn", "-Wn", "-L4m", "-n", "typed", group],
        (volumes) => volumes.includes("typed"),
      ],
      [["lvrename", group, "typed", "renamed"], (volumes) => volumes.includes("renamed")],
      [["lvremove", "-f", `${group}/renamed`], (volumes) => volumes.length === 0],
    ];
    for (const [args, arrived] of typed) {
      const before = calls;
      await shell(...args);
      const endedAtMs = performance.now();
      t.ok(await until(() => calls > before, 20_000), `${args[0]} is noticed`);
      t.comment(`${args[0]}: noticed after ${Math.round(performance.now() - endedAtMs)} ms`);
      t.ok(arrived((await lvm.read()).value.volumes.map(({ name }) => name)));
    }
    await sleep(300);
    const before = ends.length;
    await sleep(700);
    t.equal(ends.length, before, "a read does not trigger another read");
    await lvm.close();
  });

  test("a change by the gateway itself costs a subscriber one read", async (t) => {
    const { names, options } = await makeLoopVolumeGroups(t);
    const [volumeGroupName = ""] = names;
    const ends: ToolEnd[] = [];
    const lvm = createLvm({ ...options, onToolEnd: (end) => ends.push(end) });
    await lvm.read();
    lvm.subscribe(() => {});
    const costs: string[] = [];
    // On a busy machine the notice of LVM's own change may come after the read has started, which costs another one.
    while (costs.length < 5 && costs.at(-1) !== "lvcreate fullreport") {
      const before = ends.length;
      await lvm.run({
        kind: "create",
        volumeGroupName,
        name: `own-${costs.length}`,
        sizeBytes: 1n,
        tags: [],
      });
      await lvm.read();
      await sleep(500);
      costs.push(
        ends
          .slice(before)
          .map(({ argv }) => argv[1])
          .join(" "),
      );
    }
    // With device-mapper, the device may appear after the read has started.
    t.ok(options.activation === "auto" || costs.at(-1) === "lvcreate fullreport", costs.join(", "));
    await lvm.close();
  });

  test("a group disappears and returns; the other stays available", async (t) => {
    const { names, options, shell } = await makeLoopVolumeGroups(t, 2);
    const [going = "", staying = ""] = names;
    const lvm = createLvm(options);
    const groups = async () => (await lvm.read()).value.volumeGroups.map(({ name }) => name);
    const create = (volumeGroupName: string, name: string) =>
      lvm.run({ kind: "create", volumeGroupName, name, sizeBytes: 1n, tags: [] });
    t.strictSame((await groups()).sort(), [going, staying].sort());
    lvm.subscribe(() => {});

    const ways: [string[], string[]][] = [
      [
        ["vgexport", going],
        ["vgimport", going],
      ],
      [
        ["vgrename", going, `${going}-away`],
        ["vgrename", `${going}-away`, going],
      ],
    ];
    for (const [[away = "", ...awayArgs], [back = "", ...backArgs]] of ways) {
      await shell(away, ...awayArgs);
      t.ok(await until(async () => !(await groups()).includes(going), 20_000), `${away}: gone`);
      t.equal(await reasonOf(create(going, `during-${away}`)), "VOLUME_GROUP_GONE");
      await create(staying, `during-${away}`);
      await shell(back, ...backArgs);
      t.ok(await until(async () => (await groups()).includes(going), 20_000), `${back}: back`);
      await create(going, `after-${back}`);
    }
    t.equal((await lvm.read()).value.volumes.length, 4);
    if (options.activation === "auto") {
      await shell("vgchange", "-an", going, staying);
    }
    await lvm.close();
  });

  test("a group disappears with its disk, and returns with it", async (t) => {
    const { names, options, moveDisk } = await makeLoopVolumeGroups(t, 2);
    const [going = "", staying = ""] = names;
    const lvm = createLvm(options);
    t.teardown(() => lvm.close());
    let calls = 0;
    await lvm.read();
    lvm.subscribe(() => {
      calls += 1;
    });
    for (const isThere of [false, true]) {
      const before = calls;
      await moveDisk(going, isThere);
      t.ok(await until(() => calls > before, 60_000), `it is noticed without a read: ${isThere}`);
      const groups = (await lvm.read()).value.volumeGroups.map(({ name }) => name);
      t.same(groups.toSorted(), (isThere ? [going, staying] : [staying]).toSorted());
    }
  });

  test("a disk that is replaced at once by another of the same size is noticed", async (t) => {
    const { names, options, moveDisk } = await makeLoopVolumeGroups(t, 1);
    const [name = ""] = names;
    const lvm = createLvm(options);
    t.teardown(() => lvm.close());
    const before = (await lvm.read()).readAtMs;
    await moveDisk(name, false);
    await moveDisk(name, true);
    const isReadAgain = async () => (await lvm.read()).readAtMs > before;
    const deadlineMs = performance.now() + 10_000;
    while (!(await isReadAgain()) && performance.now() < deadlineMs) {
      await sleep(50);
    }
    t.ok(await isReadAgain());
  });

  test("parallel creates and removes end with documented reasons, and the state agrees with lvm", async (t) => {
    const { names, options, shell } = await makeLoopVolumeGroups(t, 1, 12);
    const [volumeGroupName = ""] = names;
    const lvm = createLvm(options);
    const steps = Array.from({ length: 30 }, (_, index) => {
      const at = { volumeGroupName, name: `racer-${index % 6}` };
      const makes = index % 3 !== 2;
      return reasonOf(
        makes
          ? lvm.run({ kind: "create", ...at, sizeBytes: 3n * extent, tags: [] })
          : lvm.run({ kind: "deactivate", ...at }).then(() => lvm.run({ kind: "remove", ...at })),
      );
    });
    const reasons = new Set(await Promise.all(steps));
    const documented = [undefined, "NO_SPACE", "VOLUME_EXISTS", "VOLUME_NOT_FOUND", "VOLUME_IN_USE"];
    for (const reason of reasons) {
      t.ok(documented.includes(reason), String(reason));
    }
    const listed = (await shell("lvs", "--noheadings", "-o", "lv_name", volumeGroupName))
      .split(/\s+/)
      .filter(Boolean);
    t.strictSame(
      (await lvm.read()).value.volumes.map(({ name }) => name),
      listed,
    );
    await lvm.close();
  });

  test("a gateway killed during creates leaves only whole volumes, and another gateway sees the same as lvm", async (t) => {
    const { names, options, shell, extentCount } = await makeLoopVolumeGroups(t, 1, 200);
    const [group = ""] = names;
    const created: string[] = [];
    for (const round of [1, 2, 3]) {
      const script = join(import.meta.dirname, "lvm-create-forever.ts");
      const args = [script, group, options.systemDir ?? "", options.activation, `round-${round}-`];
      const gateway = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      const lines = createInterface({ input: gateway.stdout });
      lines.on("line", (name) => created.push(name));
      t.ok(await until(() => created.length >= round * 4, 20_000));
      // At some point during the next lvcreate.
      await sleep(10 * round);
      gateway.kill("SIGKILL");
      await once(lines, "close");
    }
    t.ok(await until(() => !lvmRunsIn(options.systemDir ?? ""), 10_000), "the running lvcreate finishes");

    const lvm = createLvm(options);
    const { volumes, volumeGroups } = (await lvm.read()).value;
    const listed = (await shell("lvs", "--noheadings", "-o", "lv_name", group)).split(/\s+/).filter(Boolean);
    t.strictSame(
      volumes.map(({ name }) => name),
      listed,
    );
    for (const name of created) {
      t.ok(listed.includes(name), `${name} was reported, and exists`);
    }
    t.ok(listed.length <= created.length + 3, "at most one more per kill");
    t.equal(volumeGroups[0]?.freeBytes, BigInt(extentCount - listed.length) * extent);
    await shell("vgck", group);
    await lvm.close();
  });

  test("the inspection finds problems and how to fix them", async (t) => {
    const { options } = await makeLoopVolumeGroups(t);
    const findingsFor = async (...prefix: string[]) => {
      const lvm = createLvm({ ...options, command: [...prefix, "lvm"] });
      const inspection = await lvm.inspect();
      await lvm.close();
      return inspection;
    };
    const plain = await findingsFor();
    t.match(plain.version, /^\d+\.\d+/);
    t.ok(
      plain.findings.every(({ ok }) => ok),
      JSON.stringify(plain.findings),
    );

    t.ok((await findingsFor("env")).findings.every(({ ok }) => ok));

    const forgetful = (await findingsFor("env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin")).findings;
    t.match(
      forgetful.find(({ ok }) => !ok),
      { what: /does not pass on .*LVM_SYSTEM_DIR/, fix: /LVM_SYSTEM_DIR=/ },
    );

    const deaf = (await findingsFor("sh", "-c", 'trap "" TERM; "$@"', "sh")).findings;
    t.match(
      deaf.find(({ ok }) => !ok),
      { what: /did not end on SIGTERM/ },
    );
  });

  test("close waits for the running command, and stops the reads", async (t) => {
    const { names, options, shell } = await makeLoopVolumeGroups(t);
    const [volumeGroupName = ""] = names;
    const ends: ToolEnd[] = [];
    const lvm = createLvm({ ...options, onToolEnd: (end) => ends.push(end) });
    const creating = lvm.run({ kind: "create", volumeGroupName, name: "last", sizeBytes: 1n, tags: [] });
    await lvm.close();
    t.match(ends, [{ exitCode: 0 }]);
    await creating;
    t.match(await shell("lvs", "--noheadings", "-o", "lv_name", volumeGroupName), "last");
    t.equal(await reasonOf(lvm.run({ kind: "activate", volumeGroupName, name: "last" })), "SHUTTING_DOWN");
    t.equal(await reasonOf(lvm.read()), "SHUTTING_DOWN");
  });
}

/** Reports whether an lvm runs with this LVM_SYSTEM_DIR. */
function lvmRunsIn(systemDir: string): boolean {
  return readdirSync("/proc").some((pid) => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
      const name = readFileSync(`/proc/${pid}/comm`, "utf8").trim();
      return name.startsWith("lv") && environment.includes(`LVM_SYSTEM_DIR=${systemDir}\0`);
    } catch {
      return false;
    }
  });
}
