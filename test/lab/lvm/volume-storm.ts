import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  type Client,
  ConnectError,
  createClient,
  type Interceptor,
  type Transport,
} from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { LVService, VGService } from "../../../gen/proto/lvmd_pb.ts";
import { type GatewayProcess, startGatewayProcess } from "../gateway-process.ts";

/** The LVM of a storm. */
export interface StormLvm {
  /** A volume group with room for all volumes, used only by the storm. */
  readonly volumeGroup: string;
  /** LVM_SYSTEM_DIR of the gateway and of shell commands. */
  readonly systemDir?: string;
}

/** Volumes have up to 2 GiB. */
export interface StormOptions extends StormLvm {
  readonly activation: "auto" | "none";
  readonly volumeCount: number;
  readonly clientCount: number;
  /** Number of creates that are running or queued when the gateway is killed. */
  readonly killedCreates: number;
}

/** Measurements of a storm. Failures are thrown. */
export interface StormReport {
  readonly created: number;
  readonly removed: number;
  readonly lists: number;
  /** Number of errors of each reason. */
  readonly reasons: Readonly<Record<string, number>>;
  /** Milliseconds from the end of an `lvcreate` in a shell to the message of an open Watch. */
  readonly shellToWatchMs: number;
  /** Number of volumes that existed after the SIGKILL, out of `killedCreates`. */
  readonly survivedKill: number;
  readonly durationMs: number;
}

const gib = 1n << 30n;

/** The reasons that the storm's calls may fail with; any other is a bug. */
const expectedReasons: ReadonlySet<string> = new Set(["VOLUME_EXISTS", "VOLUME_NOT_FOUND", "NO_SPACE"]);

/**
 * Puts a gateway on real LVM under the heaviest load that its clients may cause: many parallel creates, resizes, removals and
 * lists, an outside change, and a SIGKILL during creates. Compares the result with LVM after each phase.
 * @throws AssertionError when the gateway and LVM disagree, or a response is not documented
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

/**
 * Repeats a call whose connection was closed. A busy host may suspend a client until its time to send a request is over. The key
 * prevents a second change.
 */
const repeatWhenClosed: Interceptor = (next) => async (request) => {
  request.header.set("idempotency-key", randomUUID());
  for (;;) {
    try {
      return await next(request);
    } catch (error) {
      const { cause } = ConnectError.from(error);
      if (!/\b(ECONNRESET|EPIPE)\b/.test(String(cause))) {
        throw error;
      }
    }
  }
};

/** Returns the transport of a client: half of them speak gRPC, half Connect. */
export function transportOf(
  { url }: GatewayProcess,
  index: number,
  interceptors: Interceptor[] = [],
): Transport {
  return index % 2 === 0
    ? createGrpcTransport({ baseUrl: url, interceptors })
    : createConnectTransport({ baseUrl: url, httpVersion: "1.1", interceptors });
}

function clientsOf(gateway: GatewayProcess, index: number): Clients {
  const transport = transportOf(gateway, index, [repeatWhenClosed]);
  return { lv: createClient(LVService, transport), vg: createClient(VGService, transport) };
}

async function stormOfClients(gateway: GatewayProcess, options: StormOptions) {
  const reasons: Record<string, number> = {};
  /** Names whose create has succeeded and whose removal has not started: every list must contain them. */
  const present = new Set<string>();
  let next = 0;
  let created = 0;
  let removed = 0;
  let lists = 0;

  const refused = (error: unknown) => {
    const reason = reasonOf(error) ?? "none";
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
      await lv.createLV({ name, sizeGb: 1n }).then(() => assert.fail(`${name} was created twice`), refused);

      const before = [...present];
      const { volumes } = await vg.getLVList({});
      lists += 1;
      const listed = volumes.map((one) => one.name);
      assert.equal(new Set(listed).size, listed.length, "a volume is listed twice");
      for (const known of before) {
        // Another client may have started to remove it since.
        assert.ok(listed.includes(known) || !present.has(known), `${known} is missing from a list`);
      }

      const index = Number(name.slice("storm-".length));
      if (index % 5 === 0) {
        await lv.resizeLV({ name, sizeGb: 2n });
        const after = await vg.getLVList({});
        assert.equal(
          after.volumes.find((one) => one.name === name)?.sizeGb,
          2n,
          "a resize is visible at once",
        );
      }
      if (index % 3 === 0) {
        present.delete(name);
        await lv.removeLV({ name });
        removed += 1;
        const after = await vg.getLVList({});
        assert.ok(!after.volumes.some((one) => one.name === name), "a removal is visible at once");
        await lv
          .resizeLV({ name, sizeGb: 3n })
          .then(() => assert.fail("a removed volume was resized"), refused);
      }
    }
  }

  const workers = Array.from({ length: options.clientCount }, (_, index) => work(clientsOf(gateway, index)));
  await Promise.all(workers);
  assert.equal(created, options.volumeCount);
  return { created, removed, lists, reasons };
}

/** Compares the gateway's list with LVM's output; returns the names. */
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

/** Creates volumes, and kills the gateway after the first few. Returns the names. */
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
  // A changing tool outlives the gateway that started it; the states are compared once these tools have ended.
  for (;;) {
    const { stdout } = await promisify(execFile)("ps", ["-eo", "args="]);
    if (!/\blvcreate\b.*\bkilled-/.test(stdout)) {
      return names;
    }
    await new Promise((wait) => setTimeout(wait, 50));
  }
}

/** Runs `lvm` outside the gateway, and returns its output. @throws Error if it fails */
export async function lvm({ systemDir }: StormLvm, args: readonly string[]): Promise<string> {
  const env = { ...process.env, LC_ALL: "C" };
  const { stdout } = await promisify(execFile)("lvm", [...args], {
    env: systemDir === undefined ? env : { ...env, LVM_SYSTEM_DIR: systemDir },
  });
  return stdout;
}

/** Returns the reason of an error; undefined if the gateway has not answered. */
export function reasonOf(thrown: unknown): string | undefined {
  return ConnectError.from(thrown).findDetails(ErrorInfoSchema)[0]?.reason;
}

// In the virtual machine this is a program: node test/lab/lvm/volume-storm.ts OPTIONS-AS-JSON
if (import.meta.main) {
  const report = await runVolumeStorm(JSON.parse(process.argv[2] ?? "{}"));
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
