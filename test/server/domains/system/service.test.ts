import { test } from "tap";
import { createHostplaneClient } from "../../../../client/client.ts";
import { startGatewayUnderTest } from "../../harness/gateway-under-test.ts";

test("the gateway returns the name of its host as in its backups and operations", async (t) => {
  const { url } = await startGatewayUnderTest(t, { host: "storage-7.example" });
  const client = createHostplaneClient({ baseUrl: url });
  t.equal((await client.system.getInfo({})).hostname, "storage-7.example");
});
