import { test } from "tap";
import { methodRuleOf } from "../../../../../server/gateway/method-rules.ts";
import { methodPathOf } from "../../../../../server/rpc/call/method-rule.ts";
import { eventStreamMethodOf } from "../../../../../server/rpc/protocols/sse/event-stream-methods.ts";
import { readContractServices } from "../../../harness/contract-services.ts";

const methods = (await readContractServices()).flatMap((service) => service.methods);
const streams = methods.flatMap((method) => eventStreamMethodOf(method, methodRuleOf(method)) ?? []);
const namesOf = (some: typeof streams) => some.map(({ method }) => methodPathOf(method)).toSorted();

test("watches are available by GET", async (t) => {
  t.same(namesOf(streams.filter(({ byGet }) => byGet)), [
    "grpc.health.v1.Health/Watch",
    "hostplane.v1.ClusterService/WatchClusters",
    "hostplane.v1.EventService/FollowEvents",
    "hostplane.v1.EventService/Subscribe",
    "hostplane.v1.FleetService/WatchHosts",
    "hostplane.v1.InventoryService/WatchResources",
    "hostplane.v1.OperationService/WatchOperation",
    "hostplane.v1.PodService/WatchPods",
    "hostplane.v1.StoragePoolService/WatchStoragePool",
    "hostplane.v1.StorageService/WatchClusterStats",
    "hostplane.v1.StreamService/CarryStreams",
    "proto.VGService/Watch",
    "v1alpha.PublicAPI/ListenEvents",
  ]);
});

test("methods that change something or return secrets are only available by POST", async (t) => {
  t.same(namesOf(streams.filter(({ byGet }) => !byGet)), [
    "hostplane.v1.FleetService/CallHosts",
    ...["CreateBackup", "CreateHypervisor", "CreateHypervisors", "DestroyHypervisor"].map(
      (name) => `operations.v1.OperationsService/${name}`,
    ),
    ...["DestroyHypervisors", "ExpandStorage", "ShrinkStorage"].map(
      (name) => `operations.v1.OperationsService/${name}`,
    ),
    "v1alpha.PublicAPI/GetLogs",
  ]);
});

test("streams with cursors continue after one", async (t) => {
  t.same(namesOf(streams.filter(({ resumes }) => resumes)), [
    "hostplane.v1.EventService/FollowEvents",
    "hostplane.v1.EventService/Subscribe",
    "hostplane.v1.OperationService/WatchOperation",
  ]);
});
