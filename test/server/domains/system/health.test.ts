import { create } from "@bufbuild/protobuf";
import { test } from "tap";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../../../gen/grpc/health/v1/health_pb.ts";
import type { Backend, BackendHealth } from "../../../../server/domain/backend.ts";
import { createHealthService } from "../../../../server/domains/system/health.ts";
import { createCall } from "../../rpc/call/call-under-test.ts";

function backendOf(name: string, health: BackendHealth, services: readonly string[]): Backend {
  return {
    domain: "a",
    name,
    kind: "real",
    services,
    status: async () => ({ health, version: undefined, missing: [], snapshotAgeMs: undefined }),
    subscribe: () => () => {},
  };
}

test("a service is serving while one of its backends answers", async (t) => {
  const backends = [
    backendOf("gone", "unavailable", ["both", "gone"]),
    backendOf("there", "degraded", ["both", "there"]),
  ];
  const { handlerOf } = createHealthService(backends, ["both", "gone", "there", "none"]);
  const { check } = Health.method;
  const statusOf = async (service: string) => {
    const call = createCall({ method: check });
    return (await (handlerOf(check)(create(check.input, { service }), call) as Promise<object>)) as object;
  };
  t.match(await statusOf("both"), { status: Status.SERVING });
  t.match(await statusOf("there"), { status: Status.SERVING });
  t.match(await statusOf("gone"), { status: Status.NOT_SERVING });
  t.match(await statusOf("none"), { status: Status.SERVING }, "it needs no backend");
});
