import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "tap";
import { freePort } from "../harness/free-port.ts";
import { adminPassword, startGatewayUnderTest } from "../harness/gateway-under-test.ts";

/** Resolves once the port accepts connections. */
async function untilListening(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const isThere = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isThere) {
      return;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("the first call accepted by a new gateway is answered like any later one", async (t) => {
  const port = await freePort();
  const starting = startGatewayUnderTest(
    t,
    { listen: [{ address: `127.0.0.1:${port}` }] },
    { hasLogin: true },
  );
  await untilListening(port);
  const url = `http://127.0.0.1:${port}`;
  const call = (path: string, message: object, headers = {}) =>
    fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(message),
    });
  const health = fetch(`${url}/healthz`);
  const login = await call("/services.auth.AuthService/Login", {
    username: "admin",
    password: adminPassword,
  });
  const answer = (await login.json()) as { token: string };
  t.equal(login.status, 200, JSON.stringify(answer));
  const list = await call("/proto.VGService/GetLVList", {}, { authorization: `Bearer ${answer.token}` });
  t.equal(list.status, 200);
  t.equal((await health).status, 200);
  await starting;
});

test("a backup of the store is only written to an absolute path", async (t) => {
  const data = await mkdtemp(join(tmpdir(), "hostplane-call-"));
  t.teardown(() => rm(data, { recursive: true, force: true }));
  await startGatewayUnderTest(t, { data });
  const sent = request({
    socketPath: `${data}/sandbox/admin.sock`,
    path: "/admin/store-backup?file=relative.db",
    method: "POST",
  }).end();
  const [response] = await once(sent, "response");
  const text = (await response.toArray()).join("");
  t.equal(response.statusCode, 400);
  t.match(text, /must be an absolute path/);
});
