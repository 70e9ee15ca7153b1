import { test } from "tap";
import { createHostplaneClient } from "../../../../client/client.ts";
import { startGatewayUnderTest } from "../../harness/gateway-under-test.ts";

test("the gateway returns the name of its host as in its backups and operations", async (t) => {
  const { url } = await startGatewayUnderTest(t, { host: "storage-7.example" });
  const client = createHostplaneClient({ baseUrl: url });
  t.equal((await client.system.getInfo({})).hostname, "storage-7.example");
});

test("the gateway returns the load of its host", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  const { cpuLoad } = await createHostplaneClient({ baseUrl: url }).system.getInfo({});
  t.ok(cpuLoad !== undefined && Number.isFinite(cpuLoad) && cpuLoad >= 0, String(cpuLoad));
});

test("a gateway says whether it is the hub of a fleet", async (t) => {
  const isHub = async (settings: Record<string, unknown>) => {
    const { url } = await startGatewayUnderTest(t, settings);
    return (await createHostplaneClient({ baseUrl: url }).system.getInfo({})).hub;
  };
  t.equal(await isHub({}), false);
  t.equal(await isHub({ fleet: { hub: { listen: "127.0.0.1:0" } } }), true);
});
