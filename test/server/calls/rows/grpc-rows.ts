import { answers, type Row, refuses } from "./row.ts";

/** Calls for health checks and reflection, in an order in which each call finds its resources. */
export const grpcRows: readonly Row[] = [
  answers("grpc.health.v1.Health/Check", {}, { status: "SERVING" }),
  answers("grpc.health.v1.Health/Check", { service: "proto.LVService" }, { status: "SERVING" }),
  answers("grpc.health.v1.Health/Check", { service: "cnct.kaas.api.Cluster" }, { status: "SERVING" }),
  refuses("grpc.health.v1.Health/Check", { service: "no.Such" }, "NOT_FOUND", "SERVICE_NOT_FOUND"),
  answers("grpc.health.v1.Health/List", {}, { statuses: { "": { status: "SERVING" } } }),
  answers("grpc.health.v1.Health/Watch", { service: "no.Such" }, { status: "SERVICE_UNKNOWN" }),
  ...["v1", "v1alpha"].map((version) =>
    answers(
      `grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
      { listServices: "" },
      { listServicesResponse: { service: [{ name: "proto.LVService" }, { name: "proto.VGService" }] } },
    ),
  ),
];
