import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import * as http from "node:http";
import * as https from "node:https";
import { join } from "node:path";
import { test } from "tap";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { requestOver } from "../harness/raw-request.ts";
import { createCertificate } from "../rpc/listener/certificate.ts";

const info = "/hostplane.v1.SystemService/GetInfo";

test("the page only runs the gateway's own scripts, and no other page can embed it", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  const { headers } = await fetch(url);
  t.match(Object.fromEntries(headers), {
    "content-security-policy":
      /^default-src 'none'; script-src 'self'; style-src 'self';.* frame-ancestors 'none'$/,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  });
  t.notMatch(headers.get("content-security-policy"), /unsafe/);
});

for (const [version, request] of Object.entries(requestOver)) {
  test(`no answer over HTTP/${version} is cached or sniffed`, async (t) => {
    const { url } = await startGatewayUnderTest(t);
    const json = { "content-type": "application/json" };
    for (const [what, raw] of Object.entries({
      page: { method: "GET", path: "/" },
      readiness: { method: "GET", path: "/readyz" },
      rpc: { path: info, headers: json, body: "{}" },
      "RPC that fails": { path: info, headers: json, body: "{" },
      "RPC that is not there": { path: "/a.B/C", headers: json, body: "{}" },
      "no page": { method: "GET", path: "/none" },
    })) {
      const { headers } = await request(url, raw);
      t.match(headers, { "cache-control": "no-store", "x-content-type-options": "nosniff" }, what);
      t.equal(headers["strict-transport-security"], undefined, what);
    }
  });
}

test("public pages reveal nothing of the configuration", async (t) => {
  const { url } = await startGatewayUnderTest(t, {
    volumes: {
      deviceClasses: [{ name: "class-of-test", volumeGroup: "vg-of-test", default: true }],
      lvm: { command: ["/nonexistent/lvm"] },
    },
  });
  for (const path of ["/", "/readyz", "/healthz"]) {
    const text = await (await fetch(url + path)).text();
    t.notMatch(text, /-of-test|nonexistent|apt-get|configur/i, path);
  }
  t.match(await (await fetch(`${url}/readyz`)).json(), {
    systems: [
      { domain: "system", system: "sqlite", kind: "real", health: "ok" },
      { domain: "volumes", system: "lvm", kind: "real", health: "unavailable" },
    ],
  });
});

test("HSTS is sent only beyond loopback and over TLS", async (t) => {
  const dir = t.testdir();
  const { cert, key } = await createCertificate("headers.test");
  const tls = { cert: join(dir, "cert.pem"), key: join(dir, "key.pem") };
  await Promise.all([writeFile(tls.cert, cert), writeFile(tls.key, key)]);
  const { gateway } = await startGatewayUnderTest(
    t,
    {
      listen: [
        { address: "0.0.0.0:0", tls },
        { address: "127.0.0.1:0", tls },
        { address: "0.0.0.0:0", insecure: true },
      ],
    },
    { hasLogin: true },
  );
  const [exposed = "", local = "", cleartext = ""] = gateway.addresses;
  const headersOf = async (address: string) => {
    const options = { host: "127.0.0.1", port: address.split(":")[1], agent: false };
    const request =
      address === cleartext
        ? http.get(options)
        : https.get({ ...options, ca: cert, servername: "localhost" });
    const [response] = await once(request, "response");
    response.resume();
    return response.headers;
  };
  t.equal((await headersOf(exposed))["strict-transport-security"], "max-age=31536000");
  t.equal((await headersOf(local))["strict-transport-security"], undefined);
  t.equal((await headersOf(cleartext))["strict-transport-security"], undefined);
});
