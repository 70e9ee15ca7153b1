import { readdir } from "node:fs/promises";
import { resolve } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { test } from "tap";
import { request } from "undici";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";

const built = resolve(import.meta.dirname, "../../../dist/dashboard");

test("the dashboard is sent with a policy that only allows the gateway's own scripts", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const answer = await fetch(url);
  const page = await answer.text();
  t.equal(answer.status, 200);
  t.match(answer.headers.get("content-type"), "text/html");
  const policy = answer.headers.get("content-security-policy") ?? "";
  t.match(policy, "script-src 'self'");
  t.notMatch(policy, /unsafe|https?:|\*/);
  t.match(page, /<script type="module"[^>]* src="\/assets\/index-[\w-]+\.js"/);
  t.notMatch(page, /<script(?![^>]* src=)|style=|https?:\/\//);
  t.equal(answer.headers.get("cache-control"), "no-store");
});

test("the page's assets are sent compressed and cached for good", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const script = (await readdir(`${built}/assets`)).find((name) => /^index-.*\.js$/.test(name));
  const answer = await request(`${url}/assets/${script}`, { headers: { "accept-encoding": "br" } });
  t.equal(answer.headers["content-encoding"], "br");
  t.match(answer.headers["cache-control"], "immutable");
  t.match(answer.headers["content-type"], "javascript");
  t.match(brotliDecompressSync(Buffer.from(await answer.body.arrayBuffer())).toString(), "hostplane");
  t.equal((await fetch(`${url}/assets/${script}.br`)).status, 404);
  for (const name of ["..%2f..%2fpackage.json", "..%2findex.html", "a%2f..%2findex.html", "none.js", ""]) {
    const missing = await fetch(`${url}/assets/${name}`);
    t.equal(missing.status, 404, name);
    t.equal(await missing.text(), "not found\n", name);
  }
  const whole = await request(`${url}/assets/${script}`, { method: "HEAD" });
  t.equal(whole.headers["content-encoding"], undefined);
  t.ok(Number(whole.headers["content-length"]) > 1000);
});

test("the first load is below 200 kB", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await (await fetch(url)).text();
  const names = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, name = ""]) => name);
  const sizes = await Promise.all(
    names.map(async (name) => {
      const answer = await request(`${url}/${name}`, { headers: { "accept-encoding": "gzip" } });
      return (await answer.body.arrayBuffer()).byteLength;
    }),
  );
  const sumBytes = sizes.reduce((sum, size) => sum + size, page.length);
  t.ok(names.length >= 3);
  t.ok(sumBytes < 200_000, `${sumBytes} bytes`);
});
