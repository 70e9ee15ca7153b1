import fc from "fast-check";
import { test } from "tap";
import {
  createPacketDecoder,
  encodeHeader,
  headerBytes,
  maxPacketBytes,
  type Packet,
} from "../../../../adapters/libvirt/rpc/packet.ts";

const unreadable = { reason: "TOOL_OUTPUT", message: /./ };

const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const packet = fc.record({
  program: uint32,
  version: uint32,
  procedure: int32,
  type: int32,
  serial: uint32,
  status: int32,
  payload: fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
});

const bytesOf = (each: Packet) => Buffer.concat([encodeHeader(each, each.payload.length), each.payload]);

test("decodes the same packets however the stream is split", async (t) => {
  fc.assert(
    fc.property(
      fc.array(packet, { maxLength: 8 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 60 })),
      (all, cuts) => {
        const stream = Buffer.concat(all.map(bytesOf));
        const decoder = createPacketDecoder(maxPacketBytes);
        const found: Packet[] = [];
        for (let at = 0; at < stream.length; ) {
          const length = cuts.next().value;
          // The buffer of a socket may be reused after it was delivered.
          found.push(
            ...[...decoder.push(Buffer.from(stream.subarray(at, at + length)))].map((each) => ({ ...each })),
          );
          at += length;
        }
        t.strictSame(
          found,
          all.map((each) => ({ ...each })),
        );
      },
    ),
    { numRuns: 300 },
  );
});

test("a packet may be as large as the limit and no larger", async (t) => {
  const header = { program: 1, version: 1, procedure: 1, type: 1, serial: 1, status: 0 };
  const limit = 1_000;
  const largest = limit + 4 - headerBytes;
  const [found] = createPacketDecoder(limit).push(
    Buffer.concat([encodeHeader(header, largest), Buffer.alloc(largest)]),
  );
  t.equal(found?.payload.length, largest);
  const decoder = createPacketDecoder(limit);
  t.throws(() => [...decoder.push(encodeHeader(header, largest + 1).subarray(0, 4))], unreadable);
});

test("rejects a length too short for a header, without losing the packets before it", async (t) => {
  const header = { program: 1, version: 1, procedure: 7, type: 1, serial: 1, status: 0 };
  const stream = Buffer.concat([encodeHeader(header, 0), Buffer.from([0, 0, 0, 27])]);
  const found: Packet[] = [];
  t.throws(
    () => {
      for (const each of createPacketDecoder(maxPacketBytes).push(stream)) {
        found.push(each);
      }
    },
    { reason: "TOOL_OUTPUT", message: /of 27 bytes/ },
  );
  t.match(found, [{ procedure: 7 }]);
});
