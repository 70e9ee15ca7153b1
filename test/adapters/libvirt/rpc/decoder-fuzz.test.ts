import { randomInt } from "node:crypto";
import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { errorFromPayload } from "../../../../adapters/libvirt/rpc/errors.ts";
import { eventFromMessage } from "../../../../adapters/libvirt/rpc/events.ts";
import {
  createPacketDecoder,
  headerBytes,
  type Packet,
  packetStatus,
  packetType,
} from "../../../../adapters/libvirt/rpc/packet.ts";
import { procedures } from "../../../../adapters/libvirt/rpc/procedures.ts";
import type { Codec } from "../../../../adapters/libvirt/rpc/xdr.ts";
import { decodeExactly } from "../../../../adapters/libvirt/rpc/xdr-reader.ts";
import { createXdrWriter } from "../../../../adapters/libvirt/rpc/xdr-writer.ts";
import { samples } from "./recorded.ts";

/** Number of inputs; CI uses a million, which takes 10 to 20 s. */
const count = Number(process.env.LIBVIRT_FUZZ ?? 50_000);
const maxPacketBytes = 1 << 16;

type Random = (below: number) => number;

/** mulberry32: a fast generator with the same inputs for the same seed. */
function createRandom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const small = samples.filter(({ bytes }) => bytes.length < 800);
const interesting = [0, 1, 2, 3, 4, 27, 28, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 16, (1 << 22) + 1];

/** Returns a recorded packet with a change, two packets combined, or random bytes. */
function mutate(random: Random): Buffer {
  const first = pick(random, small).bytes;
  const bytes =
    random(20) === 0
      ? Buffer.from(Array.from({ length: random(200) }, () => random(256)))
      : Buffer.concat(random(4) === 0 ? [first, pick(random, small).bytes] : [first]);
  for (let left = random(4); left > 0 && bytes.length >= 4; left -= 1) {
    const at = random(bytes.length);
    const word = Math.min(at & ~3, bytes.length - 4);
    switch (random(4)) {
      case 0:
        bytes[at] = random(256);
        break;
      case 1:
        bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
        break;
      case 2:
        bytes.writeUInt32BE(pick(random, interesting), word);
        break;
      default:
        bytes.writeUInt32BE(random(64), Math.max(word, Math.min(headerBytes, bytes.length - 4)));
    }
  }
  return random(5) === 0 ? bytes.subarray(0, random(bytes.length + 1)) : bytes;
}

function pick<T>(random: Random, all: readonly T[]): T {
  return all[random(all.length)] as T;
}

const rows = Object.values(procedures);
const byNumber = new Map(rows.map((row) => [`${row.program.number} ${row.number}`, row]));

/** Decodes a packet by its type; one with an unknown procedure is decoded as a known one. */
function read(packet: Packet, random: Random): unknown {
  if (packet.type === packetType.message) {
    return eventFromMessage(packet);
  }
  if (packet.status === packetStatus.error) {
    return errorFromPayload(packet.payload);
  }
  const row = byNumber.get(`${packet.program} ${packet.procedure}`) ?? pick(random, rows);
  const codec: Codec<unknown> = packet.type === packetType.call ? row.args : row.result;
  const value = decodeExactly(codec, packet.payload);
  // Invalid UTF-8 gets longer, and NUL is rejected; all other values can be encoded again.
  if (random(8) === 0 && !packet.payload.toString("utf8").includes("\uFFFD")) {
    try {
      codec.encode(createXdrWriter(), value);
    } catch (error) {
      if (!(error instanceof InfraError && error.message.includes("NUL"))) {
        throw error;
      }
    }
  }
  return value;
}

test(`${count} corrupt inputs are decoded or rejected, and nothing else`, async (t) => {
  const seed = Number(process.env.LIBVIRT_FUZZ_SEED ?? randomInt(2 ** 31));
  t.comment(`seed ${seed}`);
  const random = createRandom(seed);
  let readings = 0;
  let refusals = 0;
  const beganAtMs = performance.now();
  for (let left = count; left > 0; left -= 1) {
    const input = mutate(random);
    const cut = random(input.length + 1);
    const decoder = createPacketDecoder(maxPacketBytes);
    try {
      for (const chunk of [input.subarray(0, cut), input.subarray(cut)]) {
        for (const packet of decoder.push(chunk)) {
          read(packet, random);
          readings += 1;
        }
      }
    } catch (error) {
      if (!(error instanceof InfraError) || error.reason !== "TOOL_OUTPUT") {
        t.fail(`seed ${seed}, ${left} left: ${input.toString("hex")}: ${error}`);
        return;
      }
      refusals += 1;
    }
  }
  t.comment(`${readings} decoded, ${refusals} rejected in ${Math.round(performance.now() - beganAtMs)} ms`);
  t.ok(readings > count / 4, "some inputs are still valid");
  t.ok(refusals > count / 10, "many are invalid");
});
