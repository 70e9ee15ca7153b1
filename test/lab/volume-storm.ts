import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Client, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { LVService, VGService } from "../../gen/proto/lvmd_pb.ts";
import { type GatewayProcess, startGatewayProcess } from "./gateway-process.ts";

export interface StormOptions {
  /** A volume group with room for `volumeCount` volumes of 2 GiB and for nobody else's use. */
  readonly volumeGroup: string;
  /** LVM_SYSTEM_DIR of the gateway and of the commands typed beside it. */
  readonly systemDir?: string;
  readonly activation: "auto" | "none";
  readonly volumeCount: number;
  readonly clientCount: number;
  /** How many creates are under way or waiting when the gateway is killed. */
  readonly killedCreates: number;
}

/** What a storm measured; what it found wrong it throws. */
export interface StormReport {
  readonly created: number;
  readonly removed: number;
  readonly lists: number;
  /** How often each reason was answered. */
  readonly reasons: Readonly<Record<string, number>>;
  /** From the end of an `lvcreate` typed in a shell to the message of an open Watch, milliseconds. */
  readonly shellToWatchMs: number;
  /** Volumes that were there after the SIGKILL, of `killedCreates` asked for. */
  readonly survivedKill: number;
  readonly durationMs: number;
}

const gib = 1n << 30n;

/** The reasons with which the storm's calls may be refused; any other is a fault. */
const expectedReasons: ReadonlySet<string> = new Set(["VOLUME_EXISTS", "VOLUME_NOT_FOUND", "NO_SPACE"]);

/**
 * Drives a gateway on real LVM as hard as its clients may: many creates, resizes, removals and lists at once, a
 * change made behind its back, and a SIGKILL in the middle of creates. After each, LVM itself is asked.
 * @throws AssertionError where the gateway and LVM disagree, or an answer is not one of the documented
 */
export async function runVolumeStorm(options: StormOptions): Promise<StormReport> {
  const startedAtMs = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "hostplane-storm-"));
  const start = () =>
    startGatewayProcess(join(folder, "hostplane.yaml"), {
      deviceClasses: [{ name: "lab", volumeGroup: options.volumeGroup, default: true, spareGiB: 0 }],
      lvm: {
        activation: options.activation,
        ...(options.systemDir === undefined ? {} : { systemDir: options.systemDir }),
      },
    });
  let gateway = await start();
  try {
    const tally = await stormOfClients(gateway, options);
    await assertAgreement(gateway, options);
    const shellToWatchMs = await measureShellToWatch(gateway, options);
    const names = await killDuringCreates(gateway, options);
    gateway = await start();
    const survivors = await assertAgreement(gateway, options);
    return {
      ...tally,
      shellToWatchMs,
      survivedKill: names.filter((name) => survivors.has(name)).length,
      durationMs: Math.round(performance.now() - startedAtMs),
    };
  } finally {
    await gateway.kill("SIGTERM");
    rmSync(folder, { recursive: true });
  }
}

interface Clients {
  readonly lv: Client<typeof LVService>;
  readonly vg: Client<typeof VGService>;
}

/** Half of the clients speak gRPC, half Connect. */
function clientsOf({ url }: GatewayProcess, index: number): Clients {
  const transport =
    index % 2 === 0
      ? createGrpcTransport({ baseUrl: url })
      : createConnectTransport({ baseUrl: url, httpVersion: "1.1" });
  return { lv: createClient(LVService, transport), vg: createClient(VGService, transport) };
}

async function stormOfClients(gateway: GatewayProcess, options: StormOptions) {
  const reasons: Record<string, number> = {};
  /** Names whose create was answered and whose removal nobody has begun: every list must have them. */
  const present = new Set<string>();
  let next = 0;
  let created = 0;
  let removed = 0;
  let lists = 0;

  const refused = (error: unknown) => {
    const reason = reasonOf(error);
    assert.ok(expectedReasons.has(reason), `undocumented: ${reason}: ${error}`);
    reasons[reason] = (reasons[reason] ?? 0) + 1;
  };

  async function work({ lv, vg }: Clients): Promise<void> {
    while (next < options.volumeCount) {
      const name = `storm-${next++}`;
      const { volume } = await lv.createLV({ name, sizeGb: 1n, tags: ["storm", `of=${name}`] });
      assert.equal(volume?.sizeGb, 1n);
      assert.deepEqual(volume?.tags.toSorted(), [`of=${name}`, "storm"]);
      created += 1;
      present.add(name);
      await lv.createLV({ name, sizeGb: 1n }).then(() => assert.fail(`${name} was made twice`), refused);

      const before = [...present];
      const { volumes } = await vg.getLVList({});
      lists += 1;
      const listed = volumes.map((one) => one.name);
      assert.equal(new Set(listed).size, listed.length, "a volume is listed twice");
      for (const known of before) {
        // Another client may have begun to remove it since.
        assert.ok(listed.includes(known) || !present.has(known), `${known} is missing from a list`);
      }

      const index = Number(name.slice("storm-".length));
      if (index % 5 === 0) {
        await lv.resizeLV({ name, sizeGb: 2n });
        const after = await vg.getLVList({});
        assert.equal(after.volumes.find((one) => one.name === name)?.sizeGb, 2n, "a resize is read at once");
      }
      if (index % 3 === 0) {
        present.delete(name);
        await lv.removeLV({ name });
        removed += 1;
        const after = await vg.getLVList({});
        assert.ok(!after.volumes.some((one) => one.name === name), "a removal is read at once");
        await lv.resizeLV({ name, sizeGb: 3n }).then(() => assert.fail("resized what is gone"), refused);
      }
    }
  }

  const workers = Array.from({ length: options.clientCount }, (_, index) => work(clientsOf(gateway, index)));
  await Promise.all(workers);
  assert.equal(created, options.volumeCount);
  return { created, removed, lists, reasons };
}

/** Compares what the gateway lists with what LVM says; returns the names. */
async function assertAgreement(gateway: GatewayProcess, options: StormOptions): Promise<Set<string>> {
  const { vg } = clientsOf(gateway, 0);
  const listed = (await vg.getLVList({})).volumes.map(({ name, sizeGb }) => `${name} ${sizeGb}`);
  const output = await lvm(options, [
    ...["lvs", "--noheadings", "--units", "b", "--nosuffix", "-o", "lv_name,lv_size", options.volumeGroup],
  ]);
  const real = output
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([name = "", size]) => (size === undefined ? [] : [`${name} ${BigInt(size) / gib}`]));
  assert.deepEqual(listed.toSorted(), real.toSorted());
  const { freeBytes } = await vg.getFreeBytes({});
  const vgFree = await lvm(options, [
    ...["vgs", "--noheadings", "--units", "b", "--nosuffix", "-o", "vg_free", options.volumeGroup],
  ]);
  assert.equal(freeBytes, BigInt(vgFree.trim()));
  return new Set(real.map((line) => line.split(" ")[0] ?? ""));
}

async function measureShellToWatch(gateway: GatewayProcess, options: StormOptions): Promise<number> {
  const { vg } = clientsOf(gateway, 0);
  const leave = new AbortController();
  const messages = vg.watch({}, { signal: leave.signal })[Symbol.asyncIterator]();
  const first = await messages.next();
  const freeBytes: bigint = first.value.freeBytes;
  const flags = options.activation === "none" ? ["-an", "-Zn", "-Wn"] : ["--yes"];
  await lvm(options, ["lvcreate", ...flags, "-n", "typed", "-L", "1g", options.volumeGroup]);
  const typedAtMs = performance.now();
  for (;;) {
    const { value } = await messages.next();
    if (value.freeBytes === freeBytes - gib) {
      break;
    }
  }
  const elapsedMs = Math.round(performance.now() - typedAtMs);
  leave.abort();
  await messages.next().catch(() => {});
  return elapsedMs;
}

/** Asks for volumes, and kills the gateway when the first few are made. Returns the names. */
async function killDuringCreates(gateway: GatewayProcess, options: StormOptions): Promise<string[]> {
  const names = Array.from({ length: options.killedCreates }, (_, index) => `killed-${index}`);
  let done = 0;
  const { promise: isUnderWay, resolve } = Promise.withResolvers<void>();
  const calls = names.map((name, index) =>
    clientsOf(gateway, index)
      .lv.createLV({ name, sizeGb: 1n })
      .then(
        () => {
          done += 1;
          if (done === 3) {
            resolve();
          }
        },
        () => {},
      ),
  );
  await isUnderWay;
  await gateway.kill("SIGKILL");
  await Promise.all(calls);
  // A mutating tool outlives the gateway that started it; agreement is asked once those have ended.
  for (;;) {
    const { stdout } = await promisify(execFile)("ps", ["-eo", "args="]);
    if (!/\blvcreate\b.*\bkilled-/.test(stdout)) {
      return names;
    }
    await new Promise((wait) => setTimeout(wait, 50));
  }
}

async function lvm(options: StormOptions, args: readonly string[]): Promise<string> {
  const env = { ...process.env, LC_ALL: "C" };
  const { stdout } = await promisify(execFile)("lvm", [...args], {
    env: options.systemDir === undefined ? env : { ...env, LVM_SYSTEM_DIR: options.systemDir },
  });
  return stdout;
}

function reasonOf(thrown: unknown): string {
  const error = ConnectError.from(thrown);
  return error.findDetails(ErrorInfoSchema)[0]?.reason ?? `no reason (${error.message})`;
}

// In the virtual machine it is a program: node test/lab/volume-storm.ts OPTIONS-AS-JSON
if (import.meta.main) {
  const report = await runVolumeStorm(JSON.parse(process.argv[2] ?? "{}"));
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
