import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "tap";
import { startGatewayUnderTest } from "./gateway-under-test.ts";

test("a service that a listener names must exist", async (t) => {
  const listen = [{ address: "127.0.0.1:0", services: ["proto.VGServices"] }];
  await t.rejects(startGatewayUnderTest(t, { listen }), {
    message: /there is no service proto.VGServices .*proto.VGService/,
  });
});

test("when one listener cannot be had, none is left open", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "hostplane-gateway-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "first.sock");
  const listen = [{ address: `unix:${path}` }, { address: `unix:${folder}` }];
  await t.rejects(startGatewayUnderTest(t, { listen }), { message: /not a socket/ });
  t.notOk(existsSync(path));
});

test("it tells the addresses it really has", async (t) => {
  const { gateway, url } = await startGatewayUnderTest(t);
  t.match(gateway.addresses, [/^127\.0\.0\.1:[1-9]\d*$/]);
  const answer = await fetch(`${url}/hostplane.v1.SystemService/GetInfo?encoding=json&message={}`);
  t.match(await answer.json(), {
    version: "0.0.0-test",
    sandbox: true,
    listeners: [{ address: gateway.addresses[0] }],
  });
});
