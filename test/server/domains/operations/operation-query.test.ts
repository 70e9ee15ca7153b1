import { create, type MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import { test } from "tap";
import { hasReason } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { ListOperationsRequestSchema, OperationState } from "../../../../gen/hostplane/v1/operation_pb.ts";
import {
  parseOperationId,
  parseOperationQuery,
} from "../../../../server/domains/operations/operation-query.ts";
import { pageTokenFrom } from "../../../../server/rpc/page-token.ts";
import { codePoint } from "../../../code-point.ts";

type Init = MessageInitShape<typeof ListOperationsRequestSchema>;

const parse = (init: Init) => parseOperationQuery(create(ListOperationsRequestSchema, init));

function refusalOf(
  work: () => unknown,
): { readonly field: string; readonly description: string } | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (hasReason(error, hostReasons.INVALID_FIELD)) {
      return error.violations[0];
    }
    throw error;
  }
}

test("every filter is parsed, and unset filters are absent", async (t) => {
  t.same(parse({}), { filters: {}, pageSize: 100, belowSeq: undefined });
  const query = parse({
    pageSize: 7,
    states: [OperationState.FAILED, OperationState.SCHEDULED, OperationState.FAILED],
    kind: "volumes.backup",
    resource: "volumeGroups/vg0/",
    actor: "user/alice",
    from: { seconds: 1n, nanos: 1 },
    to: { seconds: 2n },
  });
  t.same(query, {
    filters: {
      states: ["scheduled", "failed"],
      kind: "volumes.backup",
      resource: "volumeGroups/vg0",
      actor: "user/alice",
      fromMs: 1001,
      toMs: 2000,
    },
    pageSize: 7,
    belowSeq: undefined,
  });
  t.equal(parse({ pageToken: pageTokenFrom(77, {}) }).belowSeq, 77);
  t.equal(parse({ kind: "volumes" }).filters.kind, "volumes");
});

test("a value out of its limits is refused with the name of its field and the limit", async (t) => {
  const refused = (init: Init) => refusalOf(() => parse(init));
  t.match(refused({ pageSize: -1 }), { field: "page_size", description: /1000, got -1/ });
  t.match(refused({ from: { seconds: 2n }, to: { seconds: 1n } }), {
    field: "to",
    description: /not before/,
  });
  t.match(refused({ states: [OperationState.UNSPECIFIED] }), {
    field: "states",
    description: /OPERATION_STATE_SCHEDULED \(1\), .*OPERATION_STATE_NEEDS_ATTENTION \(7\)$/,
  });
  t.match(refused({ states: [OperationState.FAILED, 8 as OperationState] }), { field: "states" });
  t.match(refused({ kind: "a.b.c" }), { field: "kind" });
  t.match(refused({ resource: "a\0" }), { field: "resource", description: /1024/ });
  t.match(refused({ actor: "a".repeat(1025) }), { field: "actor", description: /1024/ });
  t.match(refused({ from: { nanos: -1 } }), { field: "from" });
  t.match(refused({ to: { seconds: 253_402_300_800n } }), { field: "to" });
  t.match(refused({ pageToken: "x" }), { field: "page_token" });
  t.match(refused({ kind: "volumes", pageToken: pageTokenFrom(77, {}) }), { field: "page_token" });
  t.match(
    refusalOf(() => parseOperationId("")),
    { field: "id", description: /1 to 64/ },
  );
});

test("any request is parsed or refused with a field", async () => {
  const requests = fc.record({
    pageSize: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    pageToken: fc.string({ unit: codePoint }),
    states: fc.array(fc.integer({ min: -1, max: 9 }).map((state) => state as OperationState)),
    kind: fc.string({ unit: codePoint }),
    resource: fc.string({ unit: codePoint }),
    actor: fc.string({ unit: codePoint }),
  });
  fc.assert(fc.property(requests, (request) => refusalOf(() => parse(request))?.field !== ""));
  fc.assert(
    fc.property(fc.string({ unit: codePoint }), (id) => {
      const refusal = refusalOf(() => parseOperationId(id));
      return refusal === undefined || refusal.field === "id";
    }),
  );
});
