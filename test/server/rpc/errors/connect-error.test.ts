import assert from "node:assert/strict";
import { Code, ConnectError } from "@connectrpc/connect";
import { errorToJson } from "@connectrpc/connect/protocol-connect";
import fc from "fast-check";
import { test } from "tap";
import { InfraError, type InfraErrorFacts } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  RetryInfoSchema,
} from "../../../../gen/google/rpc/error_details_pb.ts";
import { allReasons } from "../../../../server/gateway/all-reasons.ts";
import { connectErrorFromInfraError, infraErrorFrom } from "../../../../server/rpc/errors/connect-error.ts";
import { rpcErrorFrom } from "../../harness/rpc-error.ts";

const text = fc.string({ unit: "grapheme" });
const facts = fc.record(
  {
    resource: text,
    violations: fc.array(fc.record({ field: text, description: text }, { noNullPrototype: true })),
    retryAfterMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
    cause: fc.constant(new Error("the cause is for the log")),
  },
  { requiredKeys: [], noNullPrototype: true },
) as fc.Arbitrary<InfraErrorFacts>;

test("every reason reaches a client with its code and all details, but without its cause", async () => {
  fc.assert(
    fc.property(fc.constantFrom(...allReasons), text, facts, (reason, message, known) => {
      const error = new InfraError(reason, message, known);
      const wire = connectErrorFromInfraError(error);
      const fields = (known.violations ?? []).map(({ field }) => field);
      const { id, code, retryable } = reason;
      assert.deepEqual(rpcErrorFrom(wire), { code, reason: id, domain: "hostplane", fields, message });
      const [info] = wire.findDetails(ErrorInfoSchema);
      assert.equal(info?.metadata.retryable, String(retryable));
      assert.equal(info?.metadata.resource, known.resource);
      const violations = wire.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);
      assert.deepEqual(
        violations.map(({ field, description }) => ({ field, description })),
        known.violations ?? [],
      );
      const preconditions = wire.findDetails(PreconditionFailureSchema);
      assert.equal(preconditions.length, code === "FAILED_PRECONDITION" ? 1 : 0);
      assert.equal(wire.cause, undefined);
    }),
  );
});

test("a retry delay is a valid Duration, and never shorter than it should be", async () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (retryAfterMs) => {
      const wire = connectErrorFromInfraError(new InfraError(hostReasons.BUSY, "busy", { retryAfterMs }));
      const delay = wire.findDetails(RetryInfoSchema)[0]?.retryDelay;
      assert.ok(delay !== undefined && delay.nanos >= 0 && delay.nanos < 1e9, `${delay?.nanos} ns`);
      const backMs = Number(delay?.seconds) * 1_000 + Number(delay?.nanos) / 1e6;
      assert.ok(backMs >= retryAfterMs && backMs <= retryAfterMs + 1, `${retryAfterMs} ms`);
    }),
  );
});

test("anything thrown becomes an InfraError, and a bug in the gateway reveals nothing to a client", async (t) => {
  const secret = "password=hunter2";
  fc.assert(
    fc.property(fc.anything(), (thrown) => {
      const error = infraErrorFrom(thrown);
      assert.ok(error instanceof InfraError);
      assert.equal(error.reason, "INTERNAL");
      assert.equal(error.cause, thrown, "the log gets it");
    }),
  );
  for (const thrown of [new Error(secret), new TypeError(secret), secret, new DOMException(secret)]) {
    const wire = connectErrorFromInfraError(infraErrorFrom(thrown));
    t.equal(wire.code, Code.Internal);
    t.notMatch(JSON.stringify(errorToJson(wire, undefined)), "hunter2");
  }
  const own = new InfraError(hostReasons.NO_SPACE, "full");
  t.equal(infraErrorFrom(own), own);
  t.notOk(own.retryable, "there is no more room until someone frees some");
  t.equal(infraErrorFrom(new ConnectError("x", Code.DeadlineExceeded)).reason, "DEADLINE");
  t.equal(infraErrorFrom(new ConnectError(secret, Code.Unknown)).code, "INTERNAL", "nothing is UNKNOWN");
});
