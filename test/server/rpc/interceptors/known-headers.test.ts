import fc from "fast-check";
import { test } from "tap";
import { Cluster } from "../../../../gen/cnct/kaas/api/api_pb.ts";
import { UserService } from "../../../../gen/hostplane/v1/user_pb.ts";
import { OperationsService } from "../../../../gen/operations/v1/operations_pb.ts";
import { LVService, VGService } from "../../../../gen/proto/lvmd_pb.ts";
import { AuthService } from "../../../../gen/services/auth/auth_pb.ts";
import { assertKnownHeaders } from "../../../../server/rpc/interceptors/known-headers.ts";
import { reasonOf } from "../../../adapters/host/reason-of.ts";
import { createCall } from "../call/call-under-test.ts";

function reasonFor(method: Parameters<typeof createCall>[0] & object, headers: Record<string, string>) {
  const pass = async () => assertKnownHeaders(createCall({ ...method, headers }), async () => ({}));
  return reasonOf(pass());
}

const create = { method: LVService.method.createLV };
const read = { method: VGService.method.getFreeBytes };

test("an unknown gateway header is refused, on reads too", async (t) => {
  t.equal(await reasonFor(create, { "hostplane-hots": "a" }), "UNKNOWN_HEADER");
  t.equal(await reasonFor(read, { "hostplane-hots": "a" }), "UNKNOWN_HEADER");
  t.equal(await reasonFor(read, { "hostplane-session": "cookie", "x-own": "a" }), undefined);
});

test("an idempotency key is accepted by unary changes whose answer has no secret, and ignored by reads", async (t) => {
  const headers = { "idempotency-key": "1" };
  t.equal(await reasonFor(create, headers), undefined);
  t.equal(await reasonFor(read, headers), undefined);
  t.equal(await reasonFor({ method: Cluster.method.getCluster }, headers), undefined);
  t.equal(
    await reasonFor({ method: UserService.method.createUser }, headers),
    undefined,
    "a secret in the request",
  );
  t.equal(await reasonFor({ method: AuthService.method.login }, headers), "IDEMPOTENCY_KEY_NOT_TAKEN");
  t.equal(
    await reasonFor({ method: UserService.method.createApiToken }, headers),
    "IDEMPOTENCY_KEY_NOT_TAKEN",
  );
  t.equal(await reasonFor({ method: OperationsService.method.createHypervisor }, headers), "NOT_BUILT");
});

test("a key is 1 to 255 visible ASCII characters", async (t) => {
  const key = (text: string) => reasonFor(create, { "idempotency-key": text });
  for (const text of ["", "a b", "a, a", "a".repeat(256), "ä", "\t", "a\x7f"]) {
    t.equal(await key(text), "MALFORMED_REQUEST", JSON.stringify(text));
  }
  t.equal(await key("a".repeat(255)), undefined);
  await fc.assert(
    fc.asyncProperty(fc.string({ maxLength: 300 }), async (text) => {
      const isKey = text.length > 0 && text.length <= 255 && [...text].every((c) => c > " " && c <= "~");
      return (await key(text)) === (isKey ? undefined : "MALFORMED_REQUEST");
    }),
  );
});
