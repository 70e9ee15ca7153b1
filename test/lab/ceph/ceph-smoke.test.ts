import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import tap, { test } from "tap";
import { cephSkipReason, type S3Keys, startCeph } from "./ceph.ts";

const skip = cephSkipReason();
// Installing the packages takes a minute if they are missing.
tap.setTimeout(300_000);

/** Returns the S3 status of a signed request that lists the buckets. */
async function statusOf(url: string, keys: S3Keys, ...headers: readonly string[]): Promise<string> {
  const signature = ["--user", `${keys.accessKeyId}:${keys.secretAccessKey}`, "--aws-sigv4", "aws:amz:x:s3"];
  const sent = ["x-amz-content-sha256: UNSIGNED-PAYLOAD", ...headers].flatMap((header) => [
    "--header",
    header,
  ]);
  const output = ["--silent", "--output", "/dev/null", "--write-out", "%{http_code}"];
  const { stdout } = await promisify(execFile)("curl", [...output, ...signature, ...sent, url]);
  return stdout;
}

test("a Ceph cluster with S3", { skip, timeout: 300_000 }, async (t) => {
  const ceph = await startCeph(t);

  await t.test("gives access to its users only", async (t) => {
    const user = await ceph.createS3User();
    t.equal(await statusOf(ceph.s3Url, user), "200");
    t.equal(await statusOf(ceph.s3Url, { ...user, secretAccessKey: "wrong" }), "403");
  });

  await t.test("issues keys that need their token", async (t) => {
    const { sessionToken, ...keys } = await ceph.createS3Session();
    t.equal(await statusOf(ceph.s3Url, keys, `x-amz-security-token: ${sessionToken}`), "200");
    t.equal(await statusOf(ceph.s3Url, keys), "403");
  });

  await t.test("speaks TLS with a self-signed certificate", async (t) => {
    const ca = await readFile(ceph.certificatePath);
    const [answer] = await once(get(ceph.s3HttpsUrl, { ca, agent: false }), "response");
    answer.resume();
    t.equal(answer.statusCode, 200);
    await t.rejects(once(get(ceph.s3HttpsUrl, { agent: false }), "response"), {
      code: "DEPTH_ZERO_SELF_SIGNED_CERT",
    });
  });

  await t.test("has daemons that stop and start", async (t) => {
    const user = await ceph.createS3User();
    await ceph.stop("rgw.a");
    await t.rejects(statusOf(ceph.s3Url, user));
    await ceph.start("rgw.a");
    t.equal(await statusOf(ceph.s3Url, user), "200", "its users still exist");
  });
});

test("a cluster is destroyed with the process that owns it", { skip, timeout: 300_000 }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-ceph-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const owner = spawn("sleep", ["600"]);
  const script = fileURLToPath(new URL("ceph.sh", import.meta.url));
  const environment = { ...process.env, CEPH_DIR: directory, CEPH_OWNER_PID: String(owner.pid) };
  await promisify(execFile)(script, ["up"], { env: environment });
  const { stdout } = await promisify(execFile)(script, ["status"], { env: environment });
  const pids = [...stdout.matchAll(/pid=(\d+)/g)].map(([, pid]) => pid);
  t.equal(pids.length, 4);

  owner.kill("SIGKILL");
  // The test's time limit ends this loop.
  while (existsSync(directory) || pids.some((pid) => existsSync(`/proc/${pid}`))) {
    await sleep(100);
  }
});
