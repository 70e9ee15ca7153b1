import assert from "node:assert/strict";
import { create, type MessageInitShape, toBinary, toJsonString } from "@bufbuild/protobuf";
import fc from "fast-check";
import { test } from "tap";
import {
  GetVolumeResponseSchema,
  ListVolumesResponseSchema,
  VolumeSchema,
} from "../../../../gen/hostplane/v1/volume_pb.ts";
import { createListEncoders } from "../../../../server/rpc/streams/shared-lists.ts";

const volume = fc.record({
  name: fc.string({ unit: "binary" }).map((text) => text.toWellFormed()),
  sizeBytes: fc.bigInt({ min: 0n, max: 1n << 60n }),
  open: fc.boolean(),
  tags: fc.array(fc.string(), { maxLength: 3 }),
});

const listOf = (volumes: MessageInitShape<typeof VolumeSchema>[]) =>
  create(ListVolumesResponseSchema, { volumes });

test("a list is encoded as without kept items, whichever lists had its items before", async () => {
  fc.assert(
    fc.property(fc.array(volume, { maxLength: 8 }), fc.array(fc.nat({ max: 7 })), (inits, order) => {
      const { binary, json } = createListEncoders(ListVolumesResponseSchema);
      const volumes = inits.map((init) => create(VolumeSchema, init));
      const others = order.flatMap((at) => volumes[at] ?? []);
      for (const message of [listOf(volumes), listOf(others), listOf(volumes.toReversed())]) {
        assert.deepEqual(new Uint8Array(binary(message)), toBinary(ListVolumesResponseSchema, message));
        assert.equal(json(message), toJsonString(ListVolumesResponseSchema, message));
      }
    }),
  );
});

test("an item is encoded once for all lists that have it", async (t) => {
  const { binary, json } = createListEncoders(ListVolumesResponseSchema);
  let readCount = 0;
  const data = create(VolumeSchema, { name: "data" });
  Object.defineProperty(data, "name", {
    enumerable: true,
    get() {
      readCount += 1;
      return "data";
    },
  });
  const first = listOf([data]);
  const [bytes, text] = [binary(first), json(first)];
  const afterFirst = readCount;
  t.ok(afterFirst > 0);
  const second = listOf([data]);
  t.same([binary(second), json(second)], [bytes, text]);
  t.equal(readCount, afterFirst);
});

test("a message with anything besides a list is refused", async (t) => {
  t.throws(() => createListEncoders(GetVolumeResponseSchema), { message: /is not a list of messages/ });
});
