import fastify from "fastify";
import { test } from "tap";
import { createAbsentBackend } from "../../../server/domain/backend.ts";
import { statusPages } from "../../../server/web/status-pages.ts";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";

test("Koor's web application gets the version and login providers before its login", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const config = await fetch(`${url}/api/config`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url },
    body: "{}",
  });
  t.equal(config.status, 200);
  t.match(config.headers.get("content-type"), "application/json");
  t.strictSame(await config.json(), { version: "0.0.0-test", login: { providers: [] } });
  t.equal((await fetch(`${url}/api/config`)).status, 404, "it uses POST");
  const ping = await fetch(`${url}/api/ping`);
  t.strictSame([ping.status, await ping.json()], [200, { message: "Pong" }]);
});

test("readiness is one word", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const answer = await fetch(`${url}/readiness`);
  t.strictSame([answer.status, await answer.text()], [200, "OK"]);
  t.match(answer.headers.get("content-type"), "text/plain");
});

test("a gateway that is not ready says so", async (t) => {
  const stopping = new AbortController();
  const store = createAbsentBackend("system", "sqlite", "off", [], "away");
  const app = fastify();
  t.teardown(() => app.close());
  await app.register(statusPages, { backends: [], store, shutdownSignal: stopping.signal });
  const readiness = async () => {
    const { statusCode, body } = await app.inject("/readiness");
    return `${statusCode} ${body}`;
  };
  t.equal(await readiness(), "503 storeUnavailable");
  stopping.abort();
  t.equal(await readiness(), "503 stopping");
});
