import { create, type MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import { test } from "tap";
import { createHostplaneClient, describeError, OperationFailed } from "../../client/client.ts";
import { OperationSchema, OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";

const failure = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => describeError(error),
  );

test("describes a gateway error from its details", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  for (const format of ["binary", "json"] as const) {
    const client = createHostplaneClient({ baseUrl: url, format });
    t.match(await failure(client.users.getCaller({})), {
      code: "UNAUTHENTICATED",
      reason: "LOGIN_REQUIRED",
      retryable: false,
    });
    await client.login("admin", adminPassword);
    t.match(await failure(client.logicalVolumes.resizeLV({ name: "gone", sizeGb: 1n })), {
      code: "NOT_FOUND",
      reason: "VOLUME_NOT_FOUND",
      message: /gone/,
      field: undefined,
      metadata: { resource: /gone/ },
    });
    t.match(await failure(client.logicalVolumes.createLV({ name: "a/b", sizeGb: 1n })), {
      code: "INVALID_ARGUMENT",
      reason: "INVALID_FIELD",
      field: "name",
    });
    t.match(await failure(client.logicalVolumes.createLV({ name: "large", sizeGb: 1000n })), {
      code: "RESOURCE_EXHAUSTED",
      reason: "NO_SPACE",
      retryable: false,
    });
    // It takes longer than that to check a password.
    const credentials = { username: "admin", password: adminPassword };
    t.match(await failure(client.auth.login(credentials, { timeoutMs: 1 })), {
      code: "DEADLINE_EXCEEDED",
      retryable: true,
    });
    t.match(await failure(client.system.getInfo({}, { signal: AbortSignal.abort() })), { code: "CANCELLED" });
  }
  for (let attempt = 0; attempt < 6; attempt += 1) {
    await failure(createHostplaneClient({ baseUrl: url }).login("admin", "wrong"));
  }
  const throttled = await failure(createHostplaneClient({ baseUrl: url }).login("admin", "wrong"));
  t.match(throttled, { reason: "TOO_MANY_LOGINS", retryable: true });
  t.ok((throttled?.retryAfterMs ?? 0) > 0);
});

test("describes an unreachable gateway in words for people", async (t) => {
  const client = createHostplaneClient({ baseUrl: "http://127.0.0.1:1" });
  t.match(await failure(client.system.getInfo({})), {
    code: "UNAVAILABLE",
    reason: "",
    message: /cannot be reached/,
    retryable: true,
  });
});

test("describes a failed operation by the operation's own error", async (t) => {
  const ended = { id: "1", kind: "volumes.backup", state: OperationState.FAILED };
  const described = (init: MessageInitShape<typeof OperationSchema>) =>
    describeError(new OperationFailed(create(OperationSchema, { ...ended, ...init })));
  t.match(described({}), { code: "ABORTED", reason: "" });
  t.match(described({ state: OperationState.CANCELLED }), { code: "ABORTED", reason: "OPERATION_CANCELLED" });
  t.match(described({ state: OperationState.NEEDS_ATTENTION, attention: { left: ["a snapshot."] } }), {
    message: "operation 1 (volumes.backup) ended as NEEDS_ATTENTION: a snapshot.",
  });
  const error = { code: "DATA_LOSS", reason: "BACKUP_DAMAGED", message: "bad" };
  t.match(described({ error }), {
    code: "DATA_LOSS",
    reason: "BACKUP_DAMAGED",
    message: "operation 1 (volumes.backup) ended as FAILED: bad",
  });
});

test("describes anything that was thrown", async () => {
  fc.assert(
    fc.property(fc.anything(), (thrown) => {
      const { code, message, retryable } = describeError(thrown);
      return /^[A-Z_]+$/.test(code) && typeof message === "string" && typeof retryable === "boolean";
    }),
  );
});
