import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { test } from "tap";
import { startGatewayUnderTest } from "../../gateway-under-test.ts";

test("/docs is one page without scripts, and every link has a target", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const answer = await fetch(`${url}/docs`);
  const page = await answer.text();
  t.equal(answer.status, 200);
  t.match(answer.headers.get("content-type"), "text/html");
  t.match(answer.headers.get("content-security-policy"), /^default-src 'none'; style-src 'self';/);
  t.notMatch(page, /<script|<style| style="|(?:href|src)="https?:/);
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id);
  const links = new Set([...page.matchAll(/ href="#([^"]+)"/g)].map(([, id = ""]) => id));
  t.equal(new Set(ids).size, ids.length, "anchors are unique");
  t.same(
    [...links].filter((link) => !ids.includes(link)),
    [],
  );
  t.match(page, '<h3 id="rpc-proto.LVService.CreateLV">CreateLV</h3>');
  t.match(page, "Creates a logical volume, empty or filled from a backup, and returns it.");
  t.match(page, '<a href="#type-proto.DataSource">proto.DataSource</a>');
  t.match(page, /<tr id="reason-HISTORY_GONE">/);
  t.match(page, '<p class="sandbox">Sandbox: its systems are simulated;', "a sandbox is marked");
  const [, getVolumes] = page.split('id="rpc-proto.VGService.GetLVList"');
  const errors = getVolumes?.split("<h4>Errors</h4>")[1]?.split("</p>")[0];
  t.match(errors, '<a href="#reason-LOGIN_REQUIRED">LOGIN_REQUIRED</a> (UNAUTHENTICATED)');
  t.notMatch(errors, "VOLUME_EXISTS", "a read has no errors of changes");
  const [, createVolume] = page.split('id="rpc-proto.LVService.CreateLV"');
  t.match(createVolume?.split("<h4>")[0], "<li>supports idempotency-key</li><li>can be planned</li>");
  const { status } = await fetch(`${url}/docs/style.css`);
  t.equal(status, 200);
});

test("/openapi.json is public, is compressed as requested, and has an etag", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const decoders = { identity: (bytes: Buffer) => bytes, gzip: gunzipSync, br: brotliDecompressSync };
  const texts = new Set<string>();
  for (const [name, decode] of Object.entries(decoders)) {
    const answer = await fetch(`${url}/openapi.json`, { headers: { "accept-encoding": name } });
    t.equal(answer.headers.get("content-encoding") ?? "identity", name);
    t.match(answer.headers.get("content-type"), "application/json");
    const bytes = Buffer.from(await answer.arrayBuffer());
    // fetch has already decompressed the encodings that it supports.
    texts.add((bytes[0] === 0x7b ? bytes : decode(bytes)).toString());
    const etag = answer.headers.get("etag") ?? "";
    const again = await fetch(`${url}/openapi.json`, {
      headers: { "accept-encoding": name, "if-none-match": etag },
    });
    t.equal(again.status, 304);
    const listed = await fetch(`${url}/openapi.json`, {
      headers: { "accept-encoding": name, "if-none-match": `"other", W/${etag}` },
    });
    t.equal(listed.status, 304, "as sent by nginx, which makes tags weak");
  }
  t.equal(texts.size, 1);
  t.match(JSON.parse([...texts].join()), { openapi: "3.1.1", info: { title: "hostplane" } });
});

test("a listener only documents its own services", async (t) => {
  const services = ["proto.VGService", "cnct.kaas.api.Cluster"];
  const { gateway } = await startGatewayUnderTest(t, {
    listen: [{ address: "127.0.0.1:0" }, { address: "127.0.0.1:0", services }],
  });
  const [all = "", few = ""] = gateway.addresses;
  const pathsOf = async (address: string) => {
    const { paths } = (await (await fetch(`http://${address}/openapi.json`)).json()) as { paths: object };
    return Object.keys(paths);
  };
  t.ok((await pathsOf(all)).includes("/proto.LVService/CreateLV"));
  const own = await pathsOf(few);
  t.ok(own.includes("/proto.VGService/GetLVList"));
  t.ok(own.includes("/api/v1/cluster/list"));
  t.same(
    own.filter((path) => !/^\/(proto\.VGService|cnct\.kaas\.api\.Cluster|api\/v1)\//.test(path)),
    [],
  );
  const page = await (await fetch(`http://${few}/docs`)).text();
  t.match(page, "rpc-proto.VGService.Watch");
  t.notMatch(page, "rpc-proto.LVService.CreateLV");
});

test("the size of pages counts as CPU time of an address without a login", async (t) => {
  const limits = { unknown: { cpuMsPerSecond: 10 } };
  const { url } = await startGatewayUnderTest(t, { limits }, { hasLogin: true });
  const isServed = () =>
    fetch(`${url}/openapi.json`).then(
      (answer) => answer.arrayBuffer().then(() => true),
      () => false,
    );
  await isServed();
  for (let round = 0; round < 10; round += 1) {
    const served = await Promise.all(Array.from({ length: 5 }, isServed));
    if (served.includes(false)) {
      return;
    }
  }
  t.fail("51 pages of a megabyte need more than one address has");
});
