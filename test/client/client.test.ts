import { test } from "tap";
import { createHostplaneClient } from "../../client/client.ts";
import { LVService } from "../../gen/proto/lvmd_pb.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";

test("one import provides clients of all services, login, plans and operations", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const client = createHostplaneClient({ baseUrl: url });
  await t.rejects(client.system.getInfo({}), { message: /needs a login/ });
  await client.login("admin", adminPassword);
  const { actor } = await client.users.getCaller({});
  t.equal(actor, "user/admin");
  const plan = await client.plan(LVService.method.removeLV, { name: "sandbox-web" });
  t.equal(plan.kind, "volumes.remove");
  const { operationId = "" } = await client.withOperation((options) =>
    client.logicalVolumes.createBackup({ backup: { name: "monday", volumeHandle: "sandbox-web" } }, options),
  );
  const seen: string[] = [];
  const operation = await client.followOperation(operationId, {
    onProgress: ({ message }) => seen.push(message),
  });
  t.equal(operation.id, operationId);
  t.ok(seen.length > 0);
  await client.logout();
  await t.rejects(client.users.getCaller({}), { message: /needs a login/ });
});
