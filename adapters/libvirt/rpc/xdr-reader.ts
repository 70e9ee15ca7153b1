import { InfraError } from "../../host/infra-error.ts";
import { hostReasons } from "../../host/reasons.ts";

/** Reads XDR from the front of a buffer. Reading beyond its end fails before memory is allocated. */
export interface XdrReader {
  readonly remaining: number;
  int32(): number;
  uint32(): number;
  int64(): bigint;
  uint64(): bigint;
  double(): number;
  /** Reads a length in bytes, at most `max` and what remains. */
  length(max: number): number;
  /** Reads a number of items that have at least four bytes each. */
  count(max: number): number;
  /** Reads this many bytes, as a view of the buffer, and skips the padding after them. */
  padded(sizeBytes: number): Buffer;
  /** @throws InfraError TOOL_OUTPUT */
  fail(what: string): never;
}

/** Creates a reader. @throws (each of its functions) InfraError TOOL_OUTPUT */
function createXdrReader(bytes: Uint8Array): XdrReader {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let offset = 0;

  function fail(what: string): never {
    throw new InfraError(hostReasons.TOOL_OUTPUT, `libvirt sent invalid data: ${what}, at byte ${offset}`);
  }

  /** Consumes `sizeBytes` and returns their offset. */
  function take(sizeBytes: number): number {
    if (sizeBytes > buffer.length - offset) {
      fail(`${sizeBytes} bytes are expected and ${buffer.length - offset} are left`);
    }
    const at = offset;
    offset += sizeBytes;
    return at;
  }

  function bounded(max: number, itemBytes: number): number {
    const count = buffer.readUInt32BE(take(4));
    if (count > max || count * itemBytes > buffer.length - offset) {
      fail(`a length of ${count}`);
    }
    return count;
  }

  return {
    get remaining() {
      return buffer.length - offset;
    },
    int32: () => buffer.readInt32BE(take(4)),
    uint32: () => buffer.readUInt32BE(take(4)),
    int64: () => buffer.readBigInt64BE(take(8)),
    uint64: () => buffer.readBigUInt64BE(take(8)),
    double: () => buffer.readDoubleBE(take(8)),
    length: (max) => bounded(max, 1),
    count: (max) => bounded(max, 4),
    padded(sizeBytes) {
      const at = take(paddedBytes(sizeBytes));
      return buffer.subarray(at, at + sizeBytes);
    },
    fail,
  };
}

/** Rounds a size up to XDR's multiple of four. */
export function paddedBytes(sizeBytes: number): number {
  return Math.ceil(sizeBytes / 4) * 4;
}

/**
 * Decodes all of `bytes`.
 * @throws InfraError TOOL_OUTPUT, also if bytes are left over
 */
export function decodeExactly<T>(codec: { decode(reader: XdrReader): T }, bytes: Uint8Array): T {
  const reader = createXdrReader(bytes);
  const value = codec.decode(reader);
  if (reader.remaining > 0) {
    reader.fail(`${reader.remaining} bytes are left over`);
  }
  return value;
}
