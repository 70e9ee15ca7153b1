import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createServer as createTcpServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import tap, { type Test, test } from "tap";
import { run } from "../../../adapters/host/process/run.ts";
import type { Repository } from "../../../adapters/restic/adapter.ts";
import type { ResticProcessOptions } from "../../../adapters/restic/processes.ts";
import { createRestic } from "../../../adapters/restic/restic.ts";
import { reasonOf } from "../../adapters/host/reason-of.ts";
import { testResticContract, transferOptions } from "../../adapters/restic/contract.ts";
import { template, templatePassword } from "../../adapters/restic/local-repository.ts";
import { cephSkipReason, type S3Keys, type S3Session, startCeph } from "./ceph.ts";
import { startCountingProxy } from "./counting-proxy.ts";

const skip = cephSkipReason();
const timeout = 300_000;
tap.setTimeout(600_000);

const ceph = skip === false ? await startCeph(tap) : undefined;
const s3Url = ceph?.s3Url ?? "";
const s3HttpsUrl = ceph?.s3HttpsUrl ?? "";
const owner = (await ceph?.createS3User()) ?? { accessKeyId: "", secretAccessKey: "" };
const mebibyte = 1 << 20;

let bucketsNamed = 0;

/** Returns a repository in a bucket that does not exist yet; by default on the real endpoint with its owner's keys. */
function newRepository(
  more: Partial<Repository> & { readonly endpoint?: string; readonly path?: string } = {},
): Repository {
  bucketsNamed += 1;
  const { endpoint = s3Url, path = `bucket${bucketsNamed}`, ...others } = more;
  return {
    location: { kind: "s3", endpoint, path },
    password: templatePassword,
    access: owner,
    ...others,
  };
}

/** Creates a restic with a source of random bytes and a target of zeros. */
async function makeSubject(t: Test, options: ResticProcessOptions & { readonly sizeBytes?: number } = {}) {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-restic-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const { sizeBytes = 5 * mebibyte + 4096 } = options;
  const [source, target] = [join(directory, "source"), join(directory, "target")];
  await writeFile(source, randomBytes(sizeBytes));
  await writeFile(target, Buffer.alloc(sizeBytes));
  const restic = createRestic({ progressMs: 20, ...options });
  t.teardown(() => restic.close());
  return { restic, source, target, sizeBytes };
}

const never = new AbortController().signal;

async function sumOf(file: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
}

/** Creates a bucket and copies the template to it. */
async function putTemplate(bucket: string, prefix: string): Promise<void> {
  const { accessKeyId, secretAccessKey } = owner;
  const put = (path: string, ...more: string[]) =>
    run(
      [
        ...["curl", "--silent", "--show-error", "--fail", "--aws-sigv4", "aws:amz:us-east-1:s3"],
        ...[
          "--user",
          `${accessKeyId}:${secretAccessKey}`,
          "--header",
          "x-amz-content-sha256: UNSIGNED-PAYLOAD",
        ],
        ...["--request", "PUT", ...more, `${s3Url}/${path}`],
      ],
      { kind: "read" },
    );
  await put(bucket);
  const directory = await template();
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const file = join(entry.parentPath, entry.name);
    await put(`${bucket}/${prefix}/${relative(directory, file)}`, "--upload-file", file);
  }
}

testResticContract(
  "restic on S3",
  async (t) => {
    const bucket = `contract-${crypto.randomUUID()}`;
    const repository = newRepository({ path: `${bucket}/a/b` });
    return { ...(await makeSubject(t)), repository, prepare: () => putTemplate(bucket, "a/b") };
  },
  skip,
);

test("S3: bytes are restored unchanged, whatever the names are", { skip, timeout }, async (t) => {
  const { restic, source, target, sizeBytes } = await makeSubject(t, { sizeBytes: 48 * mebibyte + 512 });
  const repository = newRepository();
  await restic.ensureRepository(repository, never);
  const fileName = "a volume's name @ 100%";
  const id = await restic.backup(
    repository,
    { device: source, sizeBytes, fileName, tags: ["volume=vg0/data"] },
    transferOptions(),
  );
  await restic.restore(repository, { id, fileName, sizeBytes }, target, transferOptions());
  t.equal(await sumOf(target), await sumOf(source));
});

test("S3: only the bucket's owner has access", { skip, timeout }, async (t) => {
  const { restic } = await makeSubject(t);
  const repository = newRepository();
  await restic.ensureRepository(repository, never);
  const stranger = await ceph?.createS3User();
  const wrong: [string, S3Keys | undefined][] = [
    ["an unknown key", { accessKeyId: "NOBODY", secretAccessKey: "nothing" }],
    ["the wrong secret", { ...owner, secretAccessKey: "wrong" }],
    ["another's keys", stranger],
  ];
  for (const [name, access = owner] of wrong) {
    const other: Repository = { ...repository, access };
    t.equal(await reasonOf(restic.list(other, [], never)), "REPOSITORY_DENIED", name);
    t.equal(await reasonOf(restic.ensureRepository(other, never)), "REPOSITORY_DENIED", name);
  }
  t.strictSame(await restic.list(repository, [], never), []);
});

test("S3: only ensureRepository creates a missing bucket", { skip, timeout }, async (t) => {
  const { restic, source, sizeBytes } = await makeSubject(t);
  const repository = newRepository();
  const spec = { device: source, sizeBytes, fileName: "data", tags: [] };
  t.equal(await reasonOf(restic.list(repository, [], never)), "REPOSITORY_NOT_FOUND");
  t.equal(await reasonOf(restic.backup(repository, spec, transferOptions())), "REPOSITORY_NOT_FOUND");
  t.equal(await reasonOf(restic.list(repository, [], never)), "REPOSITORY_NOT_FOUND");
  await restic.ensureRepository(repository, never);
  t.strictSame(await restic.list(repository, [], never), []);
});

test("S3: session keys need their token", { skip, timeout }, async (t) => {
  const { restic, source, target, sizeBytes } = await makeSubject(t);
  const session = (await ceph?.createS3Session()) as S3Session;
  const { sessionToken, ...keys } = session;
  const repository = newRepository({ access: session });
  await restic.ensureRepository(repository, never);
  const spec = { device: source, sizeBytes, fileName: "data", tags: [] };
  const id = await restic.backup(repository, spec, transferOptions());
  await restic.restore(repository, { ...spec, id }, target, transferOptions());
  t.equal(await sumOf(target), await sumOf(source));

  for (const access of [keys, { ...keys, sessionToken: `x${sessionToken}` }, { ...owner, sessionToken }]) {
    t.equal(await reasonOf(restic.list({ ...repository, access }, [], never)), "REPOSITORY_DENIED");
  }
});

test("S3: plain requests go through the http proxy", { skip, timeout }, async (t) => {
  const { restic, source, sizeBytes } = await makeSubject(t);
  const proxy = await startCountingProxy(t);
  // Such a name can only be resolved by the proxy (RFC 6761).
  const endpoint = s3Url.replace("127.0.0.1", "s3.test");
  const direct = newRepository({ endpoint });
  t.equal(await reasonOf(restic.ensureRepository(direct, never)), "REPOSITORY_UNREACHABLE");
  const other: Repository = { ...direct, httpsProxy: proxy.url };
  t.equal(await reasonOf(restic.ensureRepository(other, never)), "REPOSITORY_UNREACHABLE");
  t.strictSame(proxy.forwarded, []);

  const repository: Repository = { ...direct, httpProxy: proxy.url.replace("//", "//user:p%40ss@") };
  await restic.ensureRepository(repository, never);
  await restic.backup(
    repository,
    { device: source, sizeBytes, fileName: "data", tags: [] },
    transferOptions(),
  );
  t.equal((await restic.list(repository, [], never)).length, 1);
  t.ok(proxy.forwarded.length > 5);
  t.strictSame([...new Set(proxy.forwarded)], [new URL(endpoint).host]);
  t.strictSame(proxy.tunnelled, []);
  t.strictSame([...proxy.credentials], [`Basic ${btoa("user:p@ss")}`]);
});

test("S3: encrypted requests go through the https proxy, which cannot read them", {
  skip,
  timeout,
}, async (t) => {
  const trusting = ["env", `SSL_CERT_FILE=${ceph?.certificatePath}`, "restic"];
  const { restic, source, sizeBytes } = await makeSubject(t, { command: trusting });
  const proxy = await startCountingProxy(t);
  const endpoint = s3HttpsUrl.replace("127.0.0.1", "s3.test");
  const direct = newRepository({ endpoint });
  const other: Repository = { ...direct, httpProxy: proxy.url };
  t.equal(await reasonOf(restic.ensureRepository(other, never)), "REPOSITORY_UNREACHABLE");
  t.strictSame(proxy.tunnelled, []);

  const repository: Repository = { ...direct, httpsProxy: proxy.url };
  await restic.ensureRepository(repository, never);
  await restic.backup(
    repository,
    { device: source, sizeBytes, fileName: "data", tags: [] },
    transferOptions(),
  );
  t.ok(proxy.tunnelled.length > 0);
  t.strictSame([...new Set(proxy.tunnelled)], [new URL(endpoint).host]);
  t.strictSame(proxy.forwarded, []);
});

test("S3: the error names an unreachable proxy", { skip, timeout }, async (t) => {
  const { restic } = await makeSubject(t);
  const endpoint = s3Url.replace("127.0.0.1", "s3.test");
  const repository = newRepository({ endpoint, httpProxy: "http://127.0.0.1:9" });
  await t.rejects(restic.list(repository, [], never), {
    reason: "REPOSITORY_UNREACHABLE",
    message: /proxyconnect.*127\.0\.0\.1:9/,
  });
});

test("S3: an untrusted certificate is accepted only if configured", {
  skip,
  timeout,
}, async (t) => {
  const { restic, source, target, sizeBytes } = await makeSubject(t);
  const verified = newRepository({ endpoint: s3HttpsUrl });
  const unverified: Repository = { ...verified, isTlsUnverified: true };
  await t.rejects(restic.ensureRepository(verified, never), {
    reason: "REPOSITORY_UNREACHABLE",
    message: /x509/,
  });
  await restic.ensureRepository(unverified, never);
  const spec = { device: source, sizeBytes, fileName: "data", tags: [] };
  t.equal(await reasonOf(restic.backup(verified, spec, transferOptions())), "REPOSITORY_UNREACHABLE");
  const id = await restic.backup(unverified, spec, transferOptions());
  await restic.restore(unverified, { ...spec, id }, target, transferOptions());
  t.equal(await sumOf(target), await sumOf(source));

  const trusting = createRestic({ command: ["env", `SSL_CERT_FILE=${ceph?.certificatePath}`, "restic"] });
  t.equal((await trusting.list(verified, [], never)).length, 1);
});

test("S3: an endpoint that does not work is reported", { skip, timeout }, async (t) => {
  const { restic } = await makeSubject(t, { answerTimeoutMs: 3_000 });
  const silent = await listening(t, createTcpServer());
  const endpoints: [string, string][] = [
    ["no listener", "http://127.0.0.1:9"],
    ["no response", silent],
    ["an unknown name", "http://s3.test:1"],
    ["cleartext to a TLS port", s3HttpsUrl.replace("https:", "http:")],
    ["TLS to a cleartext port", s3Url.replace("http:", "https:")],
  ];
  for (const [name, endpoint] of endpoints) {
    const startedAtMs = performance.now();
    const reason = await reasonOf(restic.ensureRepository(newRepository({ endpoint }), never));
    t.equal(reason, "REPOSITORY_UNREACHABLE", name);
    t.ok(performance.now() - startedAtMs < 10_000, `${name}: in time`);
  }
});

test("S3: a web server that returns a page for everything does not get a repository", {
  skip,
}, async (t) => {
  const { restic } = await makeSubject(t);
  const requests: string[] = [];
  const page = createServer(({ method = "" }, response) => {
    requests.push(method);
    response.end("<html>a page</html>");
  });
  const repository = newRepository({ endpoint: await listening(t, page) });
  t.equal(await reasonOf(restic.ensureRepository(repository, never)), "TOOL_FAILED");
  t.notOk(requests.includes("PUT"));
});

test("S3: a transfer survives an endpoint that comes back, and fails with one that does not", {
  skip,
  timeout,
}, async (t) => {
  const { restic, source, target, sizeBytes } = await makeSubject(t, {
    sizeBytes: 64 * mebibyte,
    patienceMs: 5_000,
  });
  const repository = newRepository();
  await restic.ensureRepository(repository, never);
  const spec = { device: source, sizeBytes, fileName: "data", tags: ["a"] };

  /** Calls `act` after part of the data has been transferred. */
  const midway = (act: () => Promise<unknown>) => {
    const moved = Promise.withResolvers<void>();
    moved.promise.then(act).catch(t.threw);
    return transferOptions({ onProgress: () => moved.resolve() });
  };
  const interrupt = async () => {
    await ceph?.stop("rgw.a");
    await ceph?.start("rgw.a");
  };
  const id = await restic.backup(repository, spec, midway(interrupt));
  await restic.restore(repository, { ...spec, id }, target, midway(interrupt));
  t.equal(await sumOf(target), await sumOf(source));

  await writeFile(source, randomBytes(sizeBytes));
  const stop = async () => ceph?.stop("rgw.a");
  t.equal(await reasonOf(restic.backup(repository, spec, midway(stop))), "REPOSITORY_UNREACHABLE");
  await ceph?.start("rgw.a");
  t.strictSame(
    (await restic.list(repository, ["a"], never)).map((snapshot) => snapshot.id),
    [id],
  );
});

/** Starts a server of the test, and returns its URL. */
async function listening(t: Test, server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}
