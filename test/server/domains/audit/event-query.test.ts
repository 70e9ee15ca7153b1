import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { test } from "tap";
import { hasReason } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { type ListEventsRequest, ListEventsRequestSchema } from "../../../../gen/hostplane/v1/audit_pb.ts";
import { parseEventQuery } from "../../../../server/domains/audit/event-query.ts";
import { pageTokenFrom } from "../../../../server/rpc/page-token.ts";
import { codePoint } from "../../../code-point.ts";

type Init = Parameters<typeof create<typeof ListEventsRequestSchema>>[1];

function parse(init: Init) {
  return parseEventQuery(create(ListEventsRequestSchema, init));
}

function fieldAtFault(init: Init): string | undefined {
  try {
    parse(init);
    return undefined;
  } catch (error) {
    if (hasReason(error, hostReasons.INVALID_FIELD)) {
      return error.violations[0]?.field;
    }
    throw error;
  }
}

test("every filter is parsed, and unset filters are absent", async (t) => {
  t.same(parse({}), { filters: {}, pageSize: 100, belowSeq: Number.MAX_SAFE_INTEGER });
  const query = parse({
    pageSize: 7,
    from: { seconds: 1n, nanos: 1 },
    to: { seconds: 2n },
    actor: "user/alice",
    address: "::1",
    rpc: "proto.LVService",
    resource: "volumeGroups/vg0/",
    outcome: "UNKNOWN_OUTCOME",
  });
  t.same(query.filters, {
    fromMs: 1001,
    toMs: 2000,
    actor: "user/alice",
    address: "::1",
    rpc: "proto.LVService",
    resource: "volumeGroups/vg0",
    code: null,
  });
  t.equal(query.pageSize, 7);
  t.equal(parse({ pageSize: 5000 }).pageSize, 1000);
  t.same(parse({ outcome: "PERMISSION_DENIED" }).filters, { code: "PERMISSION_DENIED" });
});

test("a value out of its limits is refused with the name of its field", async (t) => {
  t.equal(fieldAtFault({ pageSize: -1 }), "page_size");
  t.equal(fieldAtFault({ from: { seconds: 253_402_300_800n } }), "from");
  t.equal(fieldAtFault({ to: { nanos: -1 } }), "to");
  t.equal(fieldAtFault({ rpc: "a/b/c" }), "rpc");
  t.equal(fieldAtFault({ actor: "a\0" }), "actor");
  t.equal(fieldAtFault({ address: "a".repeat(1025) }), "address");
  t.equal(fieldAtFault({ resource: "\0" }), "resource");
  t.equal(fieldAtFault({ outcome: "ok" }), "outcome");
  t.equal(fieldAtFault({ pageToken: "x" }), "page_token");
});

const filters = fc.record({
  actor: fc.string({ maxLength: 20 }).filter((text) => !text.includes("\0")),
  outcome: fc.constantFrom("", "OK", "UNKNOWN_OUTCOME"),
  rpc: fc.constantFrom("", "proto.LVService"),
});

test("a page token continues its listing, and no other", async () => {
  fc.assert(
    fc.property(filters, filters, fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (one, other, seq) => {
      const pageToken = pageTokenFrom(seq, parse(one).filters);
      const isSame = JSON.stringify(parse(one).filters) === JSON.stringify(parse(other).filters);
      return (
        parse({ ...one, pageToken, pageSize: 3 }).belowSeq === seq &&
        fieldAtFault({ ...other, pageToken }) === (isSame ? undefined : "page_token")
      );
    }),
  );
});

test("only issued texts are page tokens, and all others are refused", async () => {
  const token = pageTokenFrom(77, {});
  const texts = fc.oneof(
    fc.string({ minLength: 1 }),
    fc.base64String({ minLength: 1 }),
    fc
      .nat(token.length - 1)
      .map((at) => `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`),
  );
  fc.assert(
    fc.property(texts, (pageToken) => {
      const fault = fieldAtFault({ pageToken });
      // The number in it may be modified: it is only a position, and hides nothing from an admin.
      return fault === "page_token" || Buffer.from(pageToken, "base64url").length === 20;
    }),
  );
});

test("any request is parsed or refused", async () => {
  const requests: fc.Arbitrary<Partial<ListEventsRequest>> = fc.record({
    pageSize: fc.integer(),
    pageToken: fc.string(),
    actor: fc.string({ unit: codePoint }),
    rpc: fc.string(),
    resource: fc.string({ unit: codePoint }),
    outcome: fc.string(),
  });
  fc.assert(fc.property(requests, (request) => fieldAtFault(request as Init) !== ""));
});
