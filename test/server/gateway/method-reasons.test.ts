import { test } from "tap";
import { planReasons } from "../../../server/domains/plan/reasons.ts";
import { allReasons } from "../../../server/gateway/all-reasons.ts";
import { methodPathOf } from "../../../server/rpc/call/method-rule.ts";
import { readDocumentedContract } from "../rpc/openapi/contract-under-test.ts";

const { methods, errors } = await readDocumentedContract();

function reasonsOf(path: string): readonly string[] {
  const documented = methods.find(({ method }) => methodPathOf(method) === path);
  return documented === undefined ? [] : errors.ownOf(documented).map(({ reason }) => reason);
}

/**
 * Reasons that no call returns: they keep the gateway from starting, describe a part of an answer, belong to the admin socket's own
 * paths, or the method does not exist.
 */
const startupReasons = [
  "HOST_INVENTORY_TOO_LARGE",
  "METHOD_NOT_FOUND",
  "STORE_IN_USE",
  "STORE_MISSING",
  "STORE_KIND_MISMATCH",
  "MASTER_KEY_UNCHANGED",
  "STORE_NEWER",
  "STORE_NOT_EMPTY",
  "BACKUP_REFUSED",
];

test("every reason that a call can return belongs to some method", (t) => {
  const reported = new Set([
    ...errors.ofEveryCall.map(({ reason }) => reason),
    // A plan is refused for the reasons of every change.
    ...Object.keys(planReasons),
    ...methods
      .filter(({ rule }) => rule.domain !== "plan")
      .flatMap((one) => errors.ownOf(one).map(({ reason }) => reason)),
  ]);
  t.same(new Set(allReasons.flatMap(({ id }) => (reported.has(id) ? [] : id))), new Set(startupReasons));
  t.end();
});

test("the required role determines the login and role errors of an RPC", (t) => {
  for (const { method, rule } of methods) {
    const own = reasonsOf(methodPathOf(method));
    const path = methodPathOf(method);
    t.equal(own.includes("LOGIN_REQUIRED"), rule.role !== "anyone", path);
    if (!["plan", "operations"].includes(rule.domain)) {
      t.equal(own.includes("ROLE_REQUIRED"), rule.role === "operator" || rule.role === "admin", path);
      t.equal(own.includes("SERVICE_NOT_ALLOWED"), rule.role !== "anyone" && !rule.ofEveryService, path);
    }
    t.equal(own.includes("UNKNOWN_FIELD"), rule.mutation, path);
  }
  t.same(reasonsOf("services.auth.AuthService/Login"), [
    "UNKNOWN_FIELD",
    "TOO_MANY_LOGINS",
    "IDEMPOTENCY_KEY_NOT_TAKEN",
    "INVALID_CREDENTIALS",
    "STORE_UNAVAILABLE",
    "STORE_DAMAGED",
    "BUSY",
  ]);
  t.notOk(reasonsOf("services.auth.AuthService/CheckToken").includes("TOO_MANY_LOGINS"));
  t.end();
});

test("keys have errors where they are supported, and where a change does not support them", (t) => {
  const keysOf = (path: string) => reasonsOf(path).filter((reason) => reason.startsWith("IDEMPOTENCY_"));
  t.same(keysOf("proto.LVService/CreateLV"), ["IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_OUTCOME_UNKNOWN"]);
  t.same(keysOf("hostplane.v1.UserService/CreateApiToken"), ["IDEMPOTENCY_KEY_NOT_TAKEN"]);
  t.same(keysOf("proto.VGService/GetLVList"), []);
  t.same(keysOf("operations.v1.OperationsService/CreateHypervisor"), []);
  t.ok(reasonsOf("operations.v1.OperationsService/CreateHypervisor").includes("NOT_BUILT"));
  t.end();
});

test("the systems of a domain determine the other errors, and changes have more of them", (t) => {
  const read = reasonsOf("proto.VGService/GetLVList");
  const change = reasonsOf("proto.LVService/CreateLV");
  for (const reason of ["DOMAIN_OFF", "DEVICE_CLASS_NOT_FOUND", "TOOL_TIMEOUT"]) {
    t.ok(read.includes(reason), reason);
    t.ok(change.includes(reason), reason);
  }
  t.ok(change.includes("VOLUME_EXISTS"));
  t.notOk(read.includes("VOLUME_EXISTS"));
  t.notOk(change.includes("MAAS_UNAVAILABLE"), "of another domain");
  for (const reason of ["POOL_EXISTS", "NOT_PLANNABLE"]) {
    t.ok(reasonsOf("hostplane.v1.PlanService/Plan").includes(reason), "a plan is refused like its change");
  }
  t.ok(reasonsOf("hostplane.v1.EventService/Subscribe").includes("HISTORY_GONE"), "its comment names it");
  t.notOk(reasonsOf("hostplane.v1.SystemService/GetInfo").includes("DOMAIN_OFF"));
  t.end();
});
