import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import { Cluster } from "../../gen/cnct/kaas/api/api_pb.ts";
import { Health } from "../../gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionV1alpha } from "../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { SystemService } from "../../gen/hostplane/v1/system_pb.ts";
import { OperationsService } from "../../gen/operations/v1/operations_pb.ts";
import { LVService, VGService } from "../../gen/proto/lvmd_pb.ts";
import { AuthService } from "../../gen/services/auth/auth_pb.ts";
import { StatsService } from "../../gen/stats/stats_pb.ts";
import { PublicAPI } from "../../gen/v1alpha/api_pb.ts";
import { exceptionalMethods, methodRuleOf } from "../../server/method-table.ts";
import { methodPathOf } from "../../server/rpc/method-rule.ts";

const services = [
  AuthService,
  StatsService,
  Cluster,
  LVService,
  VGService,
  OperationsService,
  PublicAPI,
  SystemService,
  Health,
  ServerReflection,
  ServerReflectionV1alpha,
];
const methods = services.flatMap((service) => service.methods);

test("every RPC of the contract has a rule", async (t) => {
  for (const method of methods) {
    t.doesNotThrow(() => methodRuleOf(method), methodPathOf(method));
  }
});

test("every exception is of a method that exists", async (t) => {
  const paths = new Set(methods.map(methodPathOf));
  t.same(
    exceptionalMethods.filter((path) => !paths.has(path)),
    [],
  );
});

test("what carries secrets is never a viewer's, never called by GET and never cached", async (t) => {
  for (const method of methods) {
    const rule = methodRuleOf(method);
    if (rule.secrets) {
      t.notOk(rule.get || rule.cache, `${methodPathOf(method)} by GET or cached`);
      t.not(rule.role, "viewer", methodPathOf(method));
    }
  }
});

test("a method without side effects is no mutation, and a viewer may call no mutation but Logout", async (t) => {
  for (const method of methods) {
    const rule = methodRuleOf(method);
    if (method.idempotency === Idempotency.NO_SIDE_EFFECTS) {
      t.notOk(rule.mutation, methodPathOf(method));
    }
    if (rule.mutation && method.name !== "Logout" && method.name !== "Login") {
      t.equal(rule.role, "operator", methodPathOf(method));
    }
  }
});

test("only streams are repeatable, and never one whose messages are counted", async (t) => {
  const repeatable = methods.filter((method) => methodRuleOf(method).repeatable).map(methodPathOf);
  t.same(repeatable, ["proto.VGService/Watch", "grpc.health.v1.Health/Watch"]);
});
