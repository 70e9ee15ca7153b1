import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { test } from "tap";
import { type Operation, OperationSchema } from "../../../../../gen/hostplane/v1/operation_pb.ts";
import {
  mergeOperations,
  type OperationSource,
} from "../../../../../server/domains/operations/hosts/merge-operations.ts";
import {
  type OperationPosition,
  operationsAfter,
  positionOf,
} from "../../../../../server/domains/operations/hosts/operation-position.ts";
import { hostUnreachable } from "../../../../../server/fleet/host-errors.ts";

const operation = (host: string, id: string, createdAtMs: number) =>
  create(OperationSchema, { id, fleetHost: host, createdAt: timestampFromMs(createdAtMs) });

function sourceOf(
  host: string,
  operations: readonly Operation[],
  after: OperationPosition | undefined,
  failsAfter = Number.POSITIVE_INFINITY,
): OperationSource {
  async function* read() {
    for (const [index, each] of operations.entries()) {
      if (index === failsAfter) {
        throw new Error("cut");
      }
      yield each;
    }
  }
  return {
    host,
    operations: operationsAfter(read(), after),
    errorFrom: () => hostUnreachable(host, "its connection broke"),
  };
}

test("pages of any size have each operation once, newest first, also those of one millisecond", async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 6 }), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 7 }),
      async (times, pageSize) => {
        const lists = times.map((ofHost, host) =>
          ofHost
            .toSorted((one, other) => other - one)
            .map((time, index) => operation(`node-${host}`, `${host}-${index}`, time)),
        );
        const listed: Operation[] = [];
        let after: OperationPosition | undefined;
        for (let hasMore = true; hasMore; ) {
          const position = after;
          const merged = await mergeOperations(
            lists.map((list, host) => sourceOf(`node-${host}`, list, position)),
          );
          for (let count = 0; count < pageSize; count++) {
            const next = await merged.next();
            if (next !== undefined) {
              listed.push(next);
            }
          }
          const last = listed.at(-1);
          after = last && positionOf(last);
          hasMore = merged.hasMore();
        }
        const ids = listed.map(({ id }) => id);
        const sorted = listed.every((each, index) => {
          const before = listed[index - 1];
          return before === undefined || positionOf(before).createdAtMs >= positionOf(each).createdAtMs;
        });
        return sorted && ids.length === lists.flat().length && new Set(ids).size === ids.length;
      },
    ),
  );
  t.pass();
});

test("a host that fails is named, and the others' operations are listed", async (t) => {
  const merged = await mergeOperations([
    sourceOf("node-1", [operation("node-1", "a", 3), operation("node-1", "b", 1)], undefined, 1),
    sourceOf("node-2", [operation("node-2", "c", 2)], undefined),
    sourceOf("node-3", [operation("node-3", "d", 4)], undefined, 0),
  ]);
  const ids: string[] = [];
  for (let next = await merged.next(); next !== undefined; next = await merged.next()) {
    ids.push(next.id);
  }
  t.same(ids, ["a", "c"]);
  t.match(merged.missing, [
    { host: "node-3", reason: "HOST_UNREACHABLE" },
    { host: "node-1", reason: "HOST_UNREACHABLE" },
  ]);
});
