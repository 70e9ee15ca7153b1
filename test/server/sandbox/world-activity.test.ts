import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { type Test, test } from "tap";
import { Cluster } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { BackupService } from "../../../gen/hostplane/v1/backup_pb.ts";
import { type Operation, OperationService, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { createWorldUnderTest } from "./demo-world-under-test.ts";

/** Starts a gateway with a demo world, whose clock advances three seconds in each turn of `until`. */
async function startWorld(t: Test, data: string) {
  const world = createWorldUnderTest();
  const { gateway, url, log } = await startGatewayUnderTest(t, { data }, { world });
  const transport = createConnectTransport({ baseUrl: url, httpVersion: "1.1" });
  const operations = createClient(OperationService, transport);
  const read = async () => (await operations.listOperations({ pageSize: 1_000 })).operations;
  return {
    log,
    transport,
    close: () => gateway.close(),
    /** Returns the operations once they are as expected. They are read every `pollMs` of real time. */
    async until(
      isExpected: (operations: readonly Operation[]) => boolean,
      pollMs = 5,
    ): Promise<readonly Operation[]> {
      for (;;) {
        const found = await read();
        if (isExpected(found)) {
          return found;
        }
        await world.clock.step(3_000);
        await sleep(pollMs);
      }
    },
  };
}

/** Resources of operations in a state, sorted. */
function inState(operations: readonly Operation[], state: OperationState): readonly string[] {
  const names = operations.filter((each) => each.state === state).map(({ resource }) => resource);
  return names.map((name) => name.slice(name.lastIndexOf("/") + 1)).sort();
}

const { COMPLETED, FAILED, NEEDS_ATTENTION } = OperationState;
const clusters = ["model-training", "shop-production"];
const isDone = (operations: readonly Operation[]) => {
  const completed = inState(operations, COMPLETED);
  return ["git-repositories", "db-warehouse-data", ...clusters].every((name) => completed.includes(name));
};

test("the users of the demo world act through the API; a second start does not repeat what stays", async (t) => {
  const data = await mkdtemp(join(tmpdir(), "hostplane-data-"));
  t.teardown(() => rm(data, { recursive: true, force: true }));
  const first = await startWorld(t, data);
  await first.until(isDone);
  // The engine retries an undo for 20 s of real time before the operation needs attention.
  const operations = await first.until((all) => inState(all, NEEDS_ATTENTION).length > 0, 200);
  const failed = operations.filter(({ state }) => state === FAILED);
  t.match(failed.map(({ resource, error }) => [resource, error?.reason, error?.message]).sort(), [
    ["hypervisors/cad-desktops-2", "DOMAIN_STATE", /^PCI device .* is in use by the VM cad-desktops-1$/],
    [/build-cache$/, "TOOL_FAILED", /input\/output error/],
  ]);
  t.same(inState(operations, NEEDS_ATTENTION), ["mail-spool"]);
  const [attention] = operations.filter(({ state }) => state === NEEDS_ATTENTION);
  t.match(attention?.attention, {
    left: [/^The snapshot .* of mail-spool may still exist/],
    advice: [/^Check/],
  });
  const warehouse = operations.find(({ resource }) => resource.endsWith("db-warehouse-data"));
  t.match(warehouse, { kind: "volumes.backup", state: OperationState.COMPLETED });

  t.same(new Set(operations.map(({ actor }) => actor)), new Set(["admin-socket"]));
  const { backups } = await createClient(BackupService, first.transport).listBackups({});
  t.ok(backups.length >= 4, `${backups.length} backups`);
  t.same(
    first.log.filter(({ msg }) => String(msg).includes("demo world")),
    [],
  );
  await first.close();

  const second = await startWorld(t, data);
  const later = await second.until(
    (all) => inState(all, COMPLETED).filter((name) => clusters.includes(name)).length === 4,
  );
  for (const resource of ["cad-desktops-2", "build-cache", "mail-spool", "build-runners-1"]) {
    t.equal(later.filter((each) => each.resource.endsWith(`/${resource}`)).length, 1, resource);
  }
  const { clusters: listed } = await createClient(Cluster, second.transport).getClusterList({});
  t.same(listed.map(({ name }) => name).sort(), clusters);
});

test("without the demo world a sandbox is quiet", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  const transport = createConnectTransport({ baseUrl: url, httpVersion: "1.1" });
  const { operations } = await createClient(OperationService, transport).listOperations({});
  t.same(operations, []);
});
