import { create, equals } from "@bufbuild/protobuf";
import fc from "fast-check";
import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { CreateLVResponseSchema } from "../../../../gen/proto/lvmd_pb.ts";
import { allReasons } from "../../../../server/gateway/all-reasons.ts";
import { decodeStoredAnswer, encodeStoredAnswer } from "../../../../server/rpc/interceptors/stored-answer.ts";
import { codePoint } from "../../../code-point.ts";

const optionalTexts = fc.option(fc.string({ unit: codePoint }), { nil: undefined });

test("any message is decoded unchanged, with its resource", async () => {
  const volumes = fc.record({ name: fc.string(), sizeGb: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) });
  fc.assert(
    fc.property(volumes, optionalTexts, optionalTexts, (volume, resource, operationId) => {
      const message = create(CreateLVResponseSchema, { volume });
      const bytes = encodeStoredAnswer(CreateLVResponseSchema, {
        resource,
        operationId,
        outcome: { message },
      });
      const kept = decodeStoredAnswer(CreateLVResponseSchema, bytes);
      const reported = "message" in kept.outcome ? kept.outcome.message : undefined;
      return (
        kept.resource === resource &&
        kept.operationId === operationId &&
        equals(CreateLVResponseSchema, reported as typeof message, message)
      );
    }),
  );
});

test("any error is decoded with everything that its caller sees, but without its cause", async () => {
  const errors = fc
    .record({
      reason: fc.constantFrom(...allReasons),
      message: fc.string({ unit: codePoint }),
      resource: optionalTexts,
      violations: fc.array(fc.record({ field: fc.string(), description: fc.string() })),
      retryAfterMs: fc.option(fc.nat(), { nil: undefined }),
      metadata: fc.record({ cursor: fc.string() }),
    })
    .map(({ reason, message, resource, violations, retryAfterMs, metadata }) => {
      const facts = {
        violations,
        metadata,
        ...(resource === undefined ? {} : { resource }),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      };
      return new InfraError(reason, message, { ...facts, cause: new Error("hidden") });
    });
  fc.assert(
    fc.property(errors, (error) => {
      const kept = { resource: undefined, operationId: undefined, outcome: { error } };
      const bytes = encodeStoredAnswer(CreateLVResponseSchema, kept);
      const { outcome } = decodeStoredAnswer(CreateLVResponseSchema, bytes);
      const reported = "error" in outcome ? outcome.error : undefined;
      const seen = ({
        reason,
        code,
        retryable,
        message,
        resource,
        violations,
        retryAfterMs,
        metadata,
      }: InfraError) =>
        JSON.stringify({ reason, code, retryable, message, resource, violations, retryAfterMs, metadata });
      return reported !== undefined && seen(reported) === seen(error) && reported.cause === undefined;
    }),
  );
});

test("bytes that are not a stored answer are refused", async (t) => {
  for (const text of ["", "x", "{}", '{"error":{"reason":"NO_SUCH","message":"","violations":[]}}\0']) {
    t.throws(() => decodeStoredAnswer(CreateLVResponseSchema, Buffer.from(text)), text);
  }
});

test("an error is decoded with its code even if no table declares its reason", async (t) => {
  const reason = { id: "OF_ANOTHER_VERSION", code: "ABORTED", retryable: true } as const;
  const outcome = { error: new InfraError(reason, "", { effect: "done" }) };
  const kept = { resource: undefined, operationId: undefined, outcome };
  const decoded = decodeStoredAnswer(
    CreateLVResponseSchema,
    encodeStoredAnswer(CreateLVResponseSchema, kept),
  );
  t.match(decoded.outcome, {
    error: { reason: reason.id, code: reason.code, declared: reason, retryable: false, effect: "done" },
  });
});
