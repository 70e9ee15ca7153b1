import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { BackupService } from "../../../../../gen/hostplane/v1/backup_pb.ts";
import { InventoryService } from "../../../../../gen/hostplane/v1/inventory_pb.ts";
import { LVService } from "../../../../../gen/proto/lvmd_pb.ts";
import { startGatewayUnderTest } from "../../../harness/gateway-under-test.ts";

test("the inventory has a backup once it is complete, and not after it is deleted", async (t) => {
  const { url, gateway } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const token = await gateway.sandboxToken();
  const transport = createConnectTransport({
    baseUrl: url,
    httpVersion: "2",
    interceptors: [
      (next) => (request) => {
        request.header.set("authorization", `Bearer ${token}`);
        return next(request);
      },
    ],
  });
  const inventory = createClient(InventoryService, transport);
  const filter = { types: ["backup"] };
  const leaving = new AbortController();
  t.teardown(() => leaving.abort());
  const watch = inventory.watchResources({ filter }, { signal: leaving.signal })[Symbol.asyncIterator]();
  t.match((await watch.next()).value, { changed: [], synced: true });

  const backup = { name: "monday", volumeHandle: "sandbox-web" };
  await createClient(LVService, transport).createBackup({ backup });
  const { changed } = (await watch.next()).value;
  t.match(changed, [{ title: "monday", state: "not verified", labels: { volume: /sandbox-web$/ } }]);
  const [listed] = (await inventory.listResources({ filter })).resources;
  t.equal(listed?.title, "monday");

  const id = listed?.name.replace("backups/", "") ?? "";
  await createClient(BackupService, transport).deleteBackup({ id });
  t.match((await watch.next()).value, { removed: [`backups/${id}`] });
  t.same((await inventory.listResources({ filter })).resources, []);
});
