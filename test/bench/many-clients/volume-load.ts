import { once } from "node:events";
import { type ClientHttp2Session, connect } from "node:http2";
import { setTimeout as delay } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { CreateLVRequestSchema, RemoveLVRequestSchema } from "../../../gen/proto/lvmd_pb.ts";
import { p99Ms } from "../figures/took-ms.ts";
import { callGrpc } from "../load/grpc-call.ts";
import { answerParent } from "../servers/bench-process.ts";
import { sharedClockMs } from "./clock.ts";

/** The questions that the process that changes and lists volumes answers. */
export type VolumeLoad = Readonly<{
  open: (options: OpenLoad) => Promise<void>;
  /** Changes and lists volumes for `durationMs`. @throws Error when a call fails */
  run: (durationMs: number) => Promise<LoadSample>;
}>;

export interface OpenLoad {
  readonly port: number;
  /** Tokens of the caller that changes volumes, and of the one that lists them. */
  readonly operatorToken: string;
  readonly viewerToken: string;
}

export interface LoadSample {
  readonly changes: number;
  readonly changeP50Ms: number;
  readonly changeP99Ms: number;
  readonly listP99Ms: number;
  /** When each change of the marker volume was sent, in the time of `sharedClockMs()`. */
  readonly markersSentAtMs: readonly number[];
}

const listsPerSecond = 100;
const changesPerSecond = 100;
/**
 * A Watch message has no number that shows which changes it includes. So one volume is larger than all others together, and is
 * created or removed so rarely that every state shows the last such change.
 */
const markersPerSecond = 2;
const marker = { name: "marker", sizeGb: 4n };
const volumes = ["volume-1", "volume-2", "volume-3"].map((name) => ({ name, sizeGb: 1n }));

/** The volumes that exist now. */
const existing = new Set<string>();
const connections: ClientHttp2Session[] = [];
let change: (volume: typeof marker) => Promise<number>;
let list: () => Promise<unknown>;

async function open({ port, operatorToken, viewerToken }: OpenLoad): Promise<void> {
  const [changing, listing] = await Promise.all([connectTo(port), connectTo(port)]);
  change = async ({ name, sizeGb }) => {
    const beganAtMs = sharedClockMs();
    if (existing.delete(name)) {
      const message = toBinary(RemoveLVRequestSchema, create(RemoveLVRequestSchema, { name }));
      await callGrpc(changing, "/proto.LVService/RemoveLV", message, operatorToken);
    } else {
      const message = toBinary(CreateLVRequestSchema, create(CreateLVRequestSchema, { name, sizeGb }));
      await callGrpc(changing, "/proto.LVService/CreateLV", message, operatorToken);
      existing.add(name);
    }
    return sharedClockMs() - beganAtMs;
  };
  list = () => callGrpc(listing, "/proto.VGService/GetLVList", undefined, viewerToken);
}

async function connectTo(port: number): Promise<ClientHttp2Session> {
  const connection = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  await once(connection, "connect");
  connections.push(connection);
  return connection;
}

/**
 * Changes a volume at the given rate, one change after the other.
 * @param leastMs minimum time from a response to the next request, even if the changes are late
 */
async function changeFor(
  volume: typeof marker,
  perSecond: number,
  durationMs: number,
  leastMs = 0,
): Promise<{ readonly sentAtMs: number[]; readonly tookMs: number[] }> {
  const beganAtMs = sharedClockMs();
  const endsAtMs = beganAtMs + durationMs;
  const sentAtMs: number[] = [];
  const tookMs: number[] = [];
  let dueAtMs = beganAtMs + Math.random() * (1_000 / perSecond);
  while (dueAtMs < endsAtMs && sharedClockMs() < endsAtMs) {
    await delay(Math.max(dueAtMs - sharedClockMs(), 0));
    sentAtMs.push(sharedClockMs());
    tookMs.push(await change(volume));
    dueAtMs = Math.max(dueAtMs + 1_000 / perSecond, sharedClockMs() + leastMs);
  }
  return { sentAtMs, tookMs };
}

async function run(durationMs: number): Promise<LoadSample> {
  const perVolume = (changesPerSecond - markersPerSecond) / volumes.length;
  const [listP99Ms, marked, ...changed] = await Promise.all([
    p99Ms(list, { callsPerSecond: listsPerSecond, durationMs }),
    changeFor(marker, markersPerSecond, durationMs, 1_000 / markersPerSecond),
    ...volumes.map((volume) => changeFor(volume, perVolume, durationMs)),
  ]);
  const tookMs = [marked, ...changed].flatMap((one) => one.tookMs).toSorted((a, b) => a - b);
  return {
    changes: tookMs.length,
    changeP50Ms: tookMs[Math.ceil(tookMs.length * 0.5) - 1] ?? Number.NaN,
    changeP99Ms: tookMs[Math.ceil(tookMs.length * 0.99) - 1] ?? Number.NaN,
    listP99Ms,
    markersSentAtMs: marked.sentAtMs,
  };
}

answerParent({ open, run } satisfies VolumeLoad, () => {
  for (const connection of connections) {
    connection.destroy();
  }
});
