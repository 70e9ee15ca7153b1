import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { BackupService } from "../../../gen/hostplane/v1/backup_pb.ts";
import { OperationsService } from "../../../gen/operations/v1/operations_pb.ts";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { createCertificate } from "../rpc/listener/certificate.ts";

test("a service named by a listener must exist", async (t) => {
  const listen = [{ address: "127.0.0.1:0", services: ["proto.VGServices"] }];
  await t.rejects(startGatewayUnderTest(t, { listen }), {
    message: /unknown service proto.VGServices .*proto.VGService/,
  });
});

test("if one listener cannot be opened, none stays open", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "hostplane-gateway-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "first.sock");
  const listen = [{ address: `unix:${path}` }, { address: `unix:${folder}` }];
  await t.rejects(startGatewayUnderTest(t, { listen }), { message: /not a socket/ });
  t.notOk(existsSync(path));
});

test("a reload uses the new certificates on every listener, or on none", async (t) => {
  const dir = t.testdir();
  const files = { cert: join(dir, "cert.pem"), key: join(dir, "key.pem") };
  const [first, second] = [await createCertificate("first.test"), await createCertificate("second.test")];
  writeFileSync(files.cert, first.cert);
  writeFileSync(files.key, first.key);
  const listen = [
    { address: "127.0.0.1:0", tls: files },
    { address: "127.0.0.1:0", tls: files },
  ];
  const { gateway } = await startGatewayUnderTest(t, { listen });
  const subjects = () =>
    Promise.all(
      gateway.addresses.map(async (address) => {
        const socket = connect({
          port: Number(address.split(":")[1]),
          ca: [first.cert, second.cert],
          servername: "localhost",
        });
        await once(socket, "secureConnect");
        const { CN } = socket.getPeerCertificate().subject;
        socket.destroy();
        return CN;
      }),
    );
  t.same(await subjects(), ["first.test", "first.test"]);
  writeFileSync(files.cert, second.cert);
  t.throws(() => gateway.reloadCertificates(), { message: /cannot be used/ });
  t.same(await subjects(), ["first.test", "first.test"]);
  writeFileSync(files.key, second.key);
  gateway.reloadCertificates();
  t.same(await subjects(), ["second.test", "second.test"]);
});

test("allowFrom of the configuration keeps other addresses out, and they are logged", async (t) => {
  const listen = [{ address: "0.0.0.0:0", insecure: true, allowFrom: ["127.0.0.2"] }];
  const { gateway, log } = await startGatewayUnderTest(t, { listen }, { hasLogin: true });
  const port = Number(gateway.addresses[0]?.split(":")[1]);
  const statusFrom = async (localAddress: string) => {
    const [response] = await once(
      get({ port, host: "127.0.0.1", localAddress, path: "/healthz", agent: false }),
      "response",
    );
    response.resume();
    return response.statusCode;
  };
  t.equal(await statusFrom("127.0.0.2"), 200);
  await t.rejects(statusFrom("127.0.0.1"), { code: "ECONNRESET" });
  t.match(
    log.find(({ msg }) => msg === "connection refused"),
    { address: "127.0.0.1", why: /allowFrom/, listener: "0.0.0.0:0" },
  );
});

test("a request refused for its page or its host is logged, at most once a minute", async (t) => {
  const { url, log } = await startGatewayUnderTest(t);
  for (let each = 0; each < 3; each += 1) {
    const response = await fetch(`${url}/healthz`, { headers: { origin: `https://evil-${each}.example` } });
    t.equal(response.status, 403);
  }
  t.match(
    log.filter(({ msg }) => msg === "request refused"),
    [{ address: "127.0.0.1", why: /evil-0\.example is not in cors\.origins/, omittedCount: 0 }],
  );
});

test("it reports the addresses that it really listens on", async (t) => {
  const { gateway, url } = await startGatewayUnderTest(t);
  t.match(gateway.addresses, [/^127\.0\.0\.1:[1-9]\d*$/]);
  const answer = await fetch(`${url}/hostplane.v1.SystemService/GetInfo?encoding=json&message={}`);
  t.match(await answer.json(), {
    version: "0.0.0-test",
    sandbox: true,
    listeners: [{ address: gateway.addresses[0] }],
  });
});

test("a sandbox's backups are removed when its process ends, because they are in its memory", async (t) => {
  const data = mkdtempSync(join(tmpdir(), "hostplane-gateway-"));
  t.teardown(() => rmSync(data, { recursive: true }));
  const backUp = async (url: string) => {
    const transport = createConnectTransport({ baseUrl: url, httpVersion: "1.1" });
    const reported: string[] = [];
    for await (const { msg } of createClient(OperationsService, transport).createBackup({})) {
      reported.push(msg);
    }
    const { backups } = await createClient(BackupService, transport).listBackups({ volume: "storagePool" });
    return { last: reported.at(-1), count: backups.length };
  };
  const first = await startGatewayUnderTest(t, { data });
  t.match(await backUp(first.url), { last: /stored as pool-/, count: 1 });
  await first.gateway.close();
  const second = await startGatewayUnderTest(t, { data });
  t.match(await backUp(second.url), { last: /stored as pool-/, count: 1 });
});
