import type { Random } from "../sandbox/random.ts";
import type { CephClientIo } from "./adapter.ts";

const hourMs = 3_600_000;

/** Ceph's own figures change this often. */
const bucketMs = 2_000;

/** When the day's traffic is least, in hours of UTC; it is highest twelve hours later. */
const quietHour = 3;

const peak = { readBytesPerSecond: 420e6, writeBytesPerSecond: 160e6 };

/** Average sizes of requests. */
const bytesPerRead = 48 * 1024;
const bytesPerWrite = 16 * 1024;

/** Returns the traffic of clients at a time: a daily wave, swings of a minute, and noise. */
export function sandboxTrafficAt(nowMs: number, random: Random): CephClientIo {
  const bucket = Math.floor(nowMs / bucketMs);
  const atMs = bucket * bucketMs;
  const minute = Math.floor(atMs / 60_000);
  const level = waveAt(atMs) * swing(random.fork(`minute ${minute}`), 0.25);
  const noise = random.fork(`bucket ${bucket}`);
  const readBytesPerSecond = Math.round(peak.readBytesPerSecond * level * swing(noise, 0.15));
  const writeBytesPerSecond = Math.round(peak.writeBytesPerSecond * level * swing(noise, 0.2));
  return {
    readBytesPerSecond,
    writeBytesPerSecond,
    readsPerSecond: Math.round(readBytesPerSecond / bytesPerRead),
    writesPerSecond: Math.round(writeBytesPerSecond / bytesPerWrite),
  };
}

/** Returns the share of the day's peak: from 0.15 at the quiet hour to 1. */
function waveAt(atMs: number): number {
  const turn = (2 * Math.PI * (atMs / hourMs - quietHour)) / 24;
  return 0.575 - 0.425 * Math.cos(turn);
}

/** Returns a factor that deviates from 1 by at most `most`. */
function swing(random: Random, most: number): number {
  return 1 + most * (2 * random.next() - 1);
}
