import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { test } from "tap";
import { readContractServices } from "../../harness/contract-services.ts";
import { createSharedGateway, startGatewayUnderTest } from "../../harness/gateway-under-test.ts";
import { requestOver } from "../../harness/raw-request.ts";

const sharedGateway = createSharedGateway({}, { hasLogin: true });

/** Returns the paths of all pages that the index leads to, and of the index. */
async function pagesOf(url: string): Promise<string[]> {
  const index = await (await fetch(`${url}/docs`)).text();
  const paths = [...index.matchAll(/ href="(\/docs\/[\w.]+)"/g)].map(([, path = ""]) => path);
  return ["/docs", ...new Set(paths.filter((path) => !path.endsWith(".css")))];
}

test("each service has a page with each of its RPCs, and the index has a sentence for it", async (t) => {
  const { url } = await sharedGateway();
  const index = await (await fetch(`${url}/docs`)).text();
  for (const { typeName, methods } of await readContractServices()) {
    const [, item = ""] = index.split(`<li id="service-${typeName}">`);
    t.match(item.split("<ul")[0], /<p>[A-Z].{10,}\.?<\/p>/, `${typeName} has a sentence`);
    const answer = await fetch(`${url}/docs/${typeName}`);
    t.equal(answer.status, 200, typeName);
    const page = await answer.text();
    for (const { name } of methods) {
      const anchor = `rpc-${typeName}.${name}`;
      t.ok(
        index.includes(`<li id="${anchor}"><a href="/docs/${typeName}#${anchor}">`),
        `${anchor} is listed`,
      );
      const [, section = ""] = page.split(`<h2 id="${anchor}">${name}</h2>`);
      t.match(section, `<code>POST /${typeName}/${name}</code>`);
      for (const id of [`${anchor}.request`, `${anchor}.response`]) {
        t.ok(section.includes(`<h3 id="${id}">`), id);
      }
    }
  }
});

test("every link has a target, and no page has inline code or another address", async (t) => {
  const { url } = await sharedGateway();
  const paths = await pagesOf(url);
  const pages = new Map<string, string>();
  for (const path of paths) {
    const answer = await fetch(url + path);
    t.match(answer.headers.get("content-type"), "text/html");
    t.equal(
      answer.headers.get("content-security-policy"),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    pages.set(path, await answer.text());
  }
  const ids = new Set<string>();
  for (const [path, page] of pages) {
    t.notMatch(page, /<style| style="| on\w+="|(?:href|src)="(?:https?:)?\/\//, path);
    t.same(
      page.match(/<script.*?<\/script>/g),
      ['<script type="module" src="/docs/script.js"></script>'],
      path,
    );
    const own = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => `${path}#${id}`);
    t.equal(new Set(own).size, own.length, `anchors of ${path} are unique`);
    for (const id of own) {
      ids.add(id);
    }
  }
  for (const [path, page] of pages) {
    const links = [...page.matchAll(/ href="([^"]*#[^"]+)"/g)].map(([, href = ""]) => href);
    t.same(
      links.map((href) => (href.startsWith("#") ? path + href : href)).filter((href) => !ids.has(href)),
      [],
      path,
    );
  }
  const entries = (await (await fetch(`${url}/docs/search.json`)).json()) as string[][];
  t.same(
    entries.map(([, , , href = ""]) => href).filter((href) => !ids.has(href) && !pages.has(href)),
    [],
    "every result of the search has a target",
  );
});

test("a service's page has fields, reasons by code, facts and types", async (t) => {
  const { url } = await sharedGateway();
  const page = await (await fetch(`${url}/docs/proto.LVService`)).text();
  t.match(page, "Creates a logical volume, empty or filled from a backup, and returns it.");
  t.match(page, '<a href="#type-proto.DataSource">proto.DataSource</a>');
  t.match(page, '<div id="rpc-proto.LVService.CreateLV.request.size_gb"><dt><code>size_gb</code>');
  t.match(page, '<span class="sandbox"', "a sandbox is marked");
  const [, createVolume = ""] = page.split('id="rpc-proto.LVService.CreateLV"');
  t.match(createVolume.split("<h3")[0], "<li>supports idempotency-key</li><li>can be planned</li>");
  t.match(createVolume, 'ALREADY_EXISTS: <a href="/docs/errors#reason-VOLUME_EXISTS">VOLUME_EXISTS</a>');
  t.match(page, 'data-method="proto.LVService/CreateLV" data-role="operator" data-call="change plan key"');
  const reads = await (await fetch(`${url}/docs/proto.VGService`)).text();
  t.match(reads, 'UNAUTHENTICATED: <a href="/docs/errors#reason-LOGIN_REQUIRED">LOGIN_REQUIRED</a>');
  t.notMatch(reads, "VOLUME_EXISTS", "a read has no errors of changes");
  t.match(reads, 'data-method="proto.VGService/Watch" data-role="viewer" data-call="stream"');
  t.match(await (await fetch(`${url}/docs/errors`)).text(), /<tr id="reason-HISTORY_GONE">/);
  const reflection = await (await fetch(`${url}/docs/grpc.reflection.v1.ServerReflection`)).text();
  t.notMatch(reflection, "data-method", "the script cannot send several requests");
});

test("nothing of a request is in a page, because all readers get the same", async (t) => {
  const { url } = await startGatewayUnderTest(t, {
    listen: [{ address: "127.0.0.1:0", hosts: ["evil.test"] }],
  });
  for (const path of ["/docs", "/docs/proto.VGService"]) {
    const raw = { method: "GET", path: `${path}?<b>query`, headers: { host: "evil.test" } };
    const answers = await Promise.all([
      requestOver["1.1"](url, raw),
      requestOver["1.1"](url, { method: "GET", path }),
    ]);
    const [forged = "", own] = answers.map(({ body }) => body.toString());
    t.equal(answers[0]?.status, 200);
    t.equal(forged, own);
    t.notMatch(forged, /evil\.test|127\.0\.0\.1|localhost:|<b>query/);
    t.match(forged, "$GATEWAY");
  }
});

test("a page that does not exist is not found, and not kept", async (t) => {
  const { url } = await sharedGateway();
  for (const path of ["/docs/none.Service", "/docs/", "/docs/proto.VGService/Watch", "/docs/__proto__"]) {
    t.equal((await fetch(url + path)).status, 404, path);
  }
});

test("pages are public, compressed as requested, and have an etag", async (t) => {
  const { url } = await sharedGateway();
  const decoders = { identity: (bytes: Buffer) => bytes, gzip: gunzipSync, br: brotliDecompressSync };
  for (const path of [
    "/openapi.json",
    "/docs",
    "/docs/proto.LVService",
    "/docs/errors",
    "/docs/search.json",
    "/docs/style.css",
  ]) {
    const texts = new Set<string>();
    for (const [name, decode] of Object.entries(decoders)) {
      const answer = await fetch(url + path, { headers: { "accept-encoding": name } });
      t.equal(answer.status, 200);
      t.equal(answer.headers.get("content-encoding") ?? "identity", name);
      t.equal(answer.headers.get("cache-control"), "no-cache");
      const bytes = Buffer.from(await answer.arrayBuffer());
      // fetch has already decompressed the encodings that it supports.
      texts.add(/^[{[<\s]/.test(bytes.toString("latin1")) ? bytes.toString() : decode(bytes).toString());
      const etag = answer.headers.get("etag") ?? "";
      for (const tags of [etag, `"other", W/${etag}`]) {
        const headers = { "accept-encoding": name, "if-none-match": tags };
        t.equal((await fetch(url + path, { headers })).status, 304, `${path} has not changed`);
      }
    }
    t.equal(texts.size, 1, path);
  }
  t.match(await (await fetch(`${url}/openapi.json`)).json(), {
    openapi: "3.1.1",
    info: { title: "hostplane" },
  });
});

test("a page is small", async (t) => {
  const { url } = await sharedGateway();
  for (const path of await pagesOf(url)) {
    const { body } = await requestOver["1.1"](url, {
      method: "GET",
      path,
      headers: { "accept-encoding": "gzip" },
    });
    t.ok(body.byteLength < 16_384, `${path} has ${body.byteLength} bytes`);
  }
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
  t.same(
    new Set(await pagesOf(`http://${few}`)),
    new Set(["/docs", ...services.map((name) => `/docs/${name}`), "/docs/errors"]),
  );
  t.equal((await fetch(`http://${few}/docs/proto.LVService`)).status, 404);
  const found = await (await fetch(`http://${few}/docs/search.json`)).text();
  t.match(found, "GetLVList");
  t.notMatch(found, "CreateLV");
});

for (const path of ["/openapi.json", "/docs/search.json", "/docs/errors"]) {
  test(`the size of ${path} counts as CPU time of an address without a login`, async (t) => {
    const limits = { unknown: { cpuMsPerSecond: 10 } };
    const { url } = await startGatewayUnderTest(t, { limits }, { hasLogin: true });
    // Uncompressed, as an attacker would have it.
    const isServed = () =>
      fetch(url + path, { headers: { "accept-encoding": "identity" } }).then(
        (answer) => answer.arrayBuffer().then(() => true),
        () => false,
      );
    await isServed();
    for (let round = 0; round < 60; round += 1) {
      const served = await Promise.all(Array.from({ length: 5 }, isServed));
      if (served.includes(false)) {
        return;
      }
    }
    t.fail("301 pages need more than one address has");
  });
}
