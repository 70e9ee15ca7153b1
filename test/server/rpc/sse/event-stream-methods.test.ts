import { test } from "tap";
import { methodRuleOf } from "../../../../server/method-table.ts";
import { methodPathOf } from "../../../../server/rpc/method-rule.ts";
import { eventStreamMethods } from "../../../../server/rpc/sse/event-stream-methods.ts";
import { readContractServices } from "../../contract-services.ts";

const methods = (await readContractServices()).flatMap((service) => service.methods);
const streams = eventStreamMethods(methods, methodRuleOf);
const namesOf = (some: typeof streams) => some.map(({ method }) => methodPathOf(method)).toSorted();

test("watches can be had by GET", async (t) => {
  t.same(namesOf(streams.filter(({ byGet }) => byGet)), [
    "grpc.health.v1.Health/Watch",
    "hostplane.v1.ClusterService/WatchClusters",
    "hostplane.v1.EventService/Subscribe",
    "hostplane.v1.OperationService/WatchOperation",
    "hostplane.v1.PodService/WatchPods",
    "hostplane.v1.StoragePoolService/WatchStoragePool",
    "hostplane.v1.StorageService/WatchClusterStats",
    "proto.VGService/Watch",
    "v1alpha.PublicAPI/ListenEvents",
  ]);
});

test("what changes something or tells secrets is had by POST alone", async (t) => {
  t.same(namesOf(streams.filter(({ byGet }) => !byGet)), [
    ...["CreateBackup", "CreateHypervisor", "CreateHypervisors", "DestroyHypervisor"].map(
      (name) => `operations.v1.OperationsService/${name}`,
    ),
    ...["DestroyHypervisors", "ExpandStorage", "ShrinkStorage"].map(
      (name) => `operations.v1.OperationsService/${name}`,
    ),
    "v1alpha.PublicAPI/GetLogs",
  ]);
});

test("streams that have cursors go on behind one", async (t) => {
  t.same(namesOf(streams.filter(({ resumes }) => resumes)), [
    "hostplane.v1.EventService/Subscribe",
    "hostplane.v1.OperationService/WatchOperation",
  ]);
});
