import fc from "fast-check";
import { test } from "tap";
import { startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { readEras } from "./eras.ts";
import { mixedSteps, runMixedSteps } from "./mixed-eras.ts";

const services = ["proto.LVService", "proto.VGService"];

test("clients of every lvmd version change one volume group, exact to the byte", async (t) => {
  const { gateway } = await startGatewayUnderTest(t, {
    listen: [
      { address: "127.0.0.1:0", services },
      { address: "127.0.0.1:0", services, lvmd: "current" },
    ],
  });
  const [backups, current] = gateway.addresses;
  const urls = { backups: `http://${backups}`, current: `http://${current}` };
  const eras = await readEras();
  t.equal(eras.length, 6);
  await fc.assert(
    fc.asyncProperty(mixedSteps(eras.length), (steps) => runMixedSteps(eras, urls, 4n << 20n, steps)),
    { numRuns: 30 },
  );
  t.pass();
});
