import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Test, test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { ToolEnd } from "../../../adapters/host/process/tool-result.ts";
import type { Repository } from "../../../adapters/restic/adapter.ts";
import type { ResticProcessOptions } from "../../../adapters/restic/processes.ts";
import { createRestic } from "../../../adapters/restic/restic.ts";
import { reasonOf } from "../host/reason-of.ts";
import { transferOptions } from "./contract.ts";
import { makeLocalSubject, reasonToSkip } from "./local-repository.ts";

// Behaviour with servers other than backup stores; test/lab covers a real S3 store.
const skip = await reasonToSkip();
const { signal } = new AbortController();
const access = { accessKeyId: "AKIAEXAMPLE", secretAccessKey: "hidden-key", sessionToken: "session-42" };

/** Starts a server on loopback and returns its port. */
async function serve(
  t: Test,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<number> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function at(endpoint: string, more: Partial<Repository> = {}): Repository {
  return {
    location: { kind: "s3", endpoint, path: "bucket/prefix" },
    password: "hidden-word",
    access,
    ...more,
  };
}

function resticOf(t: Test, options: ResticProcessOptions = {}) {
  const restic = createRestic(options);
  t.teardown(() => restic.close());
  return restic;
}

test("keys and session token reach the store, and the region is the store's own", { skip }, async (t) => {
  const requests: IncomingMessage[] = [];
  const port = await serve(t, (request, response) => {
    requests.push(request);
    response.writeHead(404).end("<Error><Code>NoSuchBucket</Code></Error>");
  });
  const listed = resticOf(t).list(at(`http://127.0.0.1:${port}`), [], signal);
  t.equal(await reasonOf(listed), "REPOSITORY_NOT_FOUND");
  const [request] = requests;
  t.equal(request?.url, "/bucket/?location=");
  t.equal(request?.headers["x-amz-security-token"], "session-42");
  t.match(request?.headers.authorization, /^AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE\/\d+\/us-east-1\/s3\//);
});

test("the store is reached through a proxy, with its credentials", { skip }, async (t) => {
  const requests: IncomingMessage[] = [];
  const port = await serve(t, (request, response) => {
    requests.push(request);
    response.writeHead(407).end();
  });
  const proxy = `http://hugo:pass%20word@127.0.0.1:${port}`;
  const cases = [
    at("http://s3.example.test", { httpProxy: proxy }),
    at("http://s3.example.test:8080", { httpProxy: proxy }),
  ];
  const restic = resticOf(t);
  for (const repository of cases) {
    t.equal(await reasonOf(restic.list(repository, [], signal)), "REPOSITORY_DENIED");
  }
  t.equal(requests[0]?.url, "http://s3.example.test/bucket/?location=");
  const login = Buffer.from("hugo:pass word").toString("base64");
  t.equal(requests[0]?.headers["proxy-authorization"], `Basic ${login}`);
});

test("an https store is reached through the https proxy", { skip }, async (t) => {
  let requested = "";
  const port = await serve(t, () => {});
  const server = createServer().on("connect", (request, socket) => {
    requested = `${request.url} ${request.headers["proxy-authorization"]}`;
    socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => server.close());
  const { port: proxyPort } = server.address() as AddressInfo;
  const repository = at("https://s3.example.test", {
    httpProxy: `http://127.0.0.1:${port}`,
    httpsProxy: `http://hugo:secret-word@127.0.0.1:${proxyPort}`,
  });
  t.equal(await reasonOf(resticOf(t).list(repository, [], signal)), "REPOSITORY_DENIED");
  t.equal(requested, `s3.example.test:443 Basic ${Buffer.from("hugo:secret-word").toString("base64")}`);
});

test("a store's message with a secret reaches neither an error nor an observer", { skip }, async (t) => {
  const port = await serve(t, (_request, response) => {
    const words = "hidden-key, hidden-word, session-42 and AKIAEXAMPLE are not known";
    response.writeHead(400).end(`<Error><Code>BadRequest</Code><Message>${words}</Message></Error>`);
  });
  const ends: ToolEnd[] = [];
  const restic = resticOf(t, { onToolEnd: (end) => ends.push(end) });
  const failure: unknown = await restic
    .list(at(`http://127.0.0.1:${port}`), [], signal)
    .catch((error: unknown) => error);
  t.ok(failure instanceof InfraError);
  t.match(String(failure), /\[secret\], \[secret\], \[secret\] and \[secret\] are not known/);
  t.match(ends[0]?.stderr, /\[secret\]/);
  t.notMatch(JSON.stringify(ends), /hidden|session-42|AKIA/);
});

test("an unusable store is REPOSITORY_UNREACHABLE", { skip }, async (t) => {
  const plain = await serve(t, (_request, response) => response.writeHead(200).end("<html>"));
  const closed = await serve(t, () => {});
  const restic = resticOf(t);
  const endpoints = [
    "http://127.0.0.1:9",
    "http://no.such.host.invalid",
    `https://127.0.0.1:${closed}`,
    `http://127.0.0.1:${plain}`,
  ];
  for (const endpoint of endpoints) {
    t.equal(await reasonOf(restic.list(at(endpoint), [], signal)), "REPOSITORY_UNREACHABLE", endpoint);
    const created = restic.ensureRepository(at(endpoint), signal);
    t.equal(await reasonOf(created), "REPOSITORY_UNREACHABLE", endpoint);
  }
});

test("a store that never answers is given up in time, also before a transfer", { skip }, async (t) => {
  const port = await serve(t, () => {});
  const repository = at(`http://127.0.0.1:${port}`);
  const { source, sizeBytes } = await makeLocalSubject(t);
  const restic = resticOf(t, { answerTimeoutMs: 300 });
  t.equal(await reasonOf(restic.list(repository, [], signal)), "REPOSITORY_UNREACHABLE");
  const spec = { device: source, sizeBytes, fileName: "data", tags: [] };
  t.equal(await reasonOf(restic.backup(repository, spec, transferOptions())), "REPOSITORY_UNREACHABLE");
});

test("a caller of a silent store can leave", { skip }, async (t) => {
  const requested = Promise.withResolvers<void>();
  const port = await serve(t, () => requested.resolve());
  const controller = new AbortController();
  const listed = reasonOf(resticOf(t).list(at(`http://127.0.0.1:${port}`), [], controller.signal));
  await requested.promise;
  controller.abort();
  t.equal(await listed, "CALLER_LEFT");
});
