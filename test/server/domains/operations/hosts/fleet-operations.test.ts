import { test } from "tap";
import { AuditService } from "../../../../../gen/hostplane/v1/audit_pb.ts";
import { InventoryService } from "../../../../../gen/hostplane/v1/inventory_pb.ts";
import { OperationService, OperationState } from "../../../../../gen/hostplane/v1/operation_pb.ts";
import { PodService } from "../../../../../gen/hostplane/v1/pod_pb.ts";
import {
  joinFleet,
  type MemberUnderTest,
  startHubUnderTest,
  startMemberUnderTest,
  untilHosts,
} from "../../../fleet/fleet-under-test.ts";
import { rpcErrorOf } from "../../../harness/rpc-error.ts";
import { until } from "../../../harness/until.ts";

/** Runs an operation on a host to its end. Returns its ID. */
async function runOperation(host: MemberUnderTest): Promise<string> {
  const { resources } = await host
    .admin(InventoryService)
    .listResources({ filter: { types: ["pod"], states: ["running"] } });
  const uuid = resources[0]?.name.split("/").at(-1) ?? "";
  const { operation } = await host.admin(PodService).stopPod({ pod: uuid });
  const id = operation?.id ?? "";
  for await (const _state of host.admin(OperationService).watchOperation({ id })) {
    // Until it ends.
  }
  return id;
}

test("a hub lists the operations of all hosts, and finds the host of each", async (t) => {
  const hub = await startHubUnderTest(t);
  const agents = await Promise.all([startMemberUnderTest(t, {}), startMemberUnderTest(t, {})]);
  await joinFleet(hub, agents[0], "node-1", [{ name: "rack", value: "a" }]);
  await joinFleet(hub, agents[1], "node-2");
  await untilHosts(hub, (hosts) => hosts.every(({ report }) => report !== undefined));
  const one = await runOperation(agents[0]);
  const two = await runOperation(agents[1]);
  const operations = hub.admin(OperationService);
  const listed = async (request: Parameters<typeof operations.listOperations>[0]) =>
    (await operations.listOperations(request)).operations.map(({ fleetHost, id }) => [fleetHost, id]);

  t.match(await operations.getOperation({ id: two }), { operation: { id: two, fleetHost: "node-2" } });
  t.same(await listed({}), [
    ["node-2", two],
    ["node-1", one],
  ]);
  t.same(await listed({ hosts: ["node-1"] }), [["node-1", one]]);
  t.same(await listed({ hostLabels: { rack: "a" } }), [["node-1", one]]);
  t.same(await listed({ hosts: [""] }), [], "the hub has none");
  t.same(await listed({ states: [OperationState.ACTIVE] }), []);
  const page = await operations.listOperations({ pageSize: 1 });
  t.match(page.operations, [{ id: two }]);
  const { nextPageToken: pageToken } = page;
  t.same(await listed({ pageSize: 1, pageToken }), [["node-1", one]]);
  t.match(await rpcErrorOf(operations.listOperations({ pageToken, hosts: ["node-1"] })), {
    reason: "INVALID_FIELD",
    fields: ["page_token"],
  });
  t.match(await rpcErrorOf(operations.listOperations({ hosts: ["node-3"] })), { reason: "HOST_UNKNOWN" });
  t.match(await rpcErrorOf(agents[0].admin(OperationService).listOperations({ hosts: ["node-1"] })), {
    fields: ["hosts"],
    message: /is not a hub/,
  });

  const states: unknown[] = [];
  for await (const { operation } of operations.watchOperation({ id: one })) {
    states.push([operation?.fleetHost, operation?.state]);
  }
  t.same(states, [["node-1", OperationState.COMPLETED]], "a stream ends with the operation");
  t.match(await rpcErrorOf(operations.cancelOperation({ id: one })), { reason: "OPERATION_ENDED" });
  t.match(await rpcErrorOf(operations.retryOperation({ id: one })), { reason: "OPERATION_NOT_RETRYABLE" });
  const { events } = await hub.admin(AuditService).listEvents({ rpc: "hostplane.v1.OperationService" });
  t.match(events, [
    { rpc: /RetryOperation$/, host: "node-1", operationId: one, reason: "OPERATION_NOT_RETRYABLE" },
    { rpc: /CancelOperation$/, host: "node-1", operationId: one, reason: "OPERATION_ENDED" },
  ]);
  t.match((await operations.listCommands({ id: two })).commands, [{ step: "stop" }]);

  const unknown = "00000000-0000-4000-8000-000000000000";
  t.match(await rpcErrorOf(operations.getOperation({ id: unknown })), { reason: "OPERATION_NOT_FOUND" });
  t.match(await rpcErrorOf(operations.getOperation({ id: "no id!" })), { fields: ["id"] });
  await agents[1].gateway.close();
  await until(async () => (await operations.listOperations({})).missingHosts.length > 0);
  const partial = await operations.listOperations({});
  t.match(partial.operations, [{ id: one }]);
  t.match(partial.missingHosts, [{ host: "node-2", reason: "HOST_UNREACHABLE", message: /not connected/ }]);
  t.match(await rpcErrorOf(operations.getOperation({ id: two })), {
    reason: "HOST_UNREACHABLE",
    message: /node-2/,
  });
  t.match(
    await rpcErrorOf(operations.getOperation({ id: unknown })),
    { reason: "HOST_UNREACHABLE", message: /may be on node-2/ },
    "a host that does not answer may have it",
  );
});
