import { readFileSync } from "node:fs";
import {
  createPacketDecoder,
  maxPacketBytes,
  type Packet,
  packetStatus,
  packetType,
} from "../../../../adapters/libvirt/rpc/packet.ts";
import { type ProcedureName, procedures } from "../../../../adapters/libvirt/rpc/procedures.ts";

/** A packet exchanged by a real daemon and virsh or our client; written by test/lab/libvirt/record-libvirt.ts. */
export interface Sample {
  readonly from: "client" | "daemon";
  readonly bytes: Buffer;
  readonly packet: Packet;
  /** The procedure it belongs to; undefined for unknown procedures and for events. */
  readonly name: ProcedureName | undefined;
}

const path = new URL("samples/packets.jsonl", import.meta.url);

export const samples: readonly Sample[] = readFileSync(path, "utf8")
  .trim()
  .split("\n")
  .map((line) => {
    const { from, hex } = JSON.parse(line) as { from: Sample["from"]; hex: string };
    const bytes = Buffer.from(hex, "hex");
    const [packet] = createPacketDecoder(maxPacketBytes).push(bytes);
    if (packet === undefined) {
      throw new Error(`no packet: ${hex}`);
    }
    return { from, bytes, packet, name: nameOf(packet) };
  });

function nameOf({ program, procedure }: Packet): ProcedureName | undefined {
  const names = Object.keys(procedures) as ProcedureName[];
  return names.find(
    (name) => procedures[name].program.number === program && procedures[name].number === procedure,
  );
}

export const isCall = ({ packet }: Sample) => packet.type === packetType.call;
export const isResult = ({ packet }: Sample) =>
  packet.type === packetType.reply && packet.status === packetStatus.ok;
export const isRefusal = ({ packet }: Sample) =>
  packet.type === packetType.reply && packet.status === packetStatus.error;
export const isMessage = ({ packet }: Sample) => packet.type === packetType.message;
