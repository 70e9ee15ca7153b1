import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { type Test, test } from "tap";
import type { EtcdAccess } from "../../../adapters/workload/adapter.ts";
import { removeMember } from "../../../adapters/workload/etcd.ts";
import { createServingCertificate } from "../../../adapters/workload/fake/serving-certificate.ts";
import { createTlsClient } from "../../../adapters/workload/tls-client.ts";
import { createClusterPki } from "../../../server/domains/clusters/bootstrap/cluster-pki.ts";
import { reasonOf } from "../../adapters/host/reason-of.ts";
import { etcdClient } from "../../adapters/workload/machine-park.ts";
import { kubernetesPrograms } from "./kubernetes-programs.ts";

const execute = promisify(execFile);
const built = join(kubernetesPrograms(), "etcd");
const pki = await createClusterPki(Date.now());
const names = ["cp-1", "cp-2", "cp-3"] as const;

test("Debian's etcd", { ...skipUnlessRequired(), timeout: 120_000 }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "hostplane-etcd-server-"));
  t.teardown(() => rm(folder, { recursive: true }));
  await execute("apt-get", ["download", "-qq", "etcd-server"], { cwd: folder });
  for (const file of await readdir(folder)) {
    await execute("dpkg", ["-x", file, "root"], { cwd: folder });
  }
  await losesMembers(t, join(folder, "root/usr/bin/etcd"), 1);
});

const missing = existsSync(built)
  ? false
  : "etcd of Kubernetes is not built: test/lab/kubernetes/kubernetes.sh build";
test("the etcd of Kubernetes 1.36", { skip: missing, timeout: 120_000 }, async (t) => {
  await losesMembers(t, built, 2);
});

function skipUnlessRequired() {
  const isRequired = process.env.HOSTPLANE_LAB === "required";
  return { skip: isRequired ? false : "HOSTPLANE_LAB=required downloads Debian's etcd-server" };
}

/** Runs three etcds as kubeadm does, and removes them one after the other. @param net second number of their addresses */
async function losesMembers(t: Test, program: string, net: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "hostplane-etcd-"));
  const running = new Map<string, ChildProcess>();
  t.teardown(async () => {
    await Promise.all([...running.keys()].map(stop));
    await rm(folder, { recursive: true });
  });
  // etcd's port is fixed, so each etcd has its own address, and each test process uses other addresses.
  const addressOf = (index: number) =>
    `127.${100 + net}.${(process.pid >> 8) % 256}.${(process.pid % 62) * 4 + index}`;
  const peerOf = (index: number) => `http://${addressOf(index)}:2380`;
  const cluster = names.map((name, index) => `${name}=${peerOf(index + 1)}`).join();
  await writeFile(join(folder, "ca.crt"), pki.etcdCa.certificatePem);

  async function start(name: string, index: number): Promise<void> {
    const authority = { certificatePem: pki.etcdCa.certificatePem, keyPem: pki.etcdCa.privateKeyPem };
    const { cert, key } = await createServingCertificate(authority, name, [name, addressOf(index)]);
    const path = (file: string) => join(folder, `${name}.${file}`);
    await writeFile(path("crt"), cert);
    await writeFile(path("key"), key, { mode: 0o600 });
    const url = `https://${addressOf(index)}:2379`;
    const flags = {
      name,
      "data-dir": path("data"),
      "listen-client-urls": url,
      "advertise-client-urls": url,
      "listen-peer-urls": peerOf(index),
      "initial-advertise-peer-urls": peerOf(index),
      "initial-cluster": cluster,
      "initial-cluster-state": "new",
      "client-cert-auth": "true",
      "trusted-ca-file": join(folder, "ca.crt"),
      "cert-file": path("crt"),
      "key-file": path("key"),
      "heartbeat-interval": "50",
      "election-timeout": "500",
    };
    const argv = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
    running.set(name, spawn(program, argv, { stdio: "ignore" }));
  }

  async function stop(name: string): Promise<void> {
    const child = running.get(name);
    running.delete(name);
    if (child !== undefined && child.exitCode === null) {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
    }
  }

  const client = await etcdClient(pki);
  const accessTo = (...indexes: readonly number[]): EtcdAccess => ({
    addresses: indexes.map(addressOf),
    caCertificatePem: pki.etcdCa.certificatePem,
    ...client,
  });
  const remove = (name: string, access: EtcdAccess, addresses: readonly string[] = []) =>
    removeMember(
      { name, addresses: async () => addresses },
      { access, dial: undefined },
      AbortSignal.timeout(10_000),
    );
  const query = async (path: string, body: object) => {
    const requesting = createTlsClient({
      ...accessTo(1),
      host: addressOf(1),
      port: 2379,
      dial: undefined,
      who: "etcd",
    });
    try {
      const answer = await requesting.send(
        { method: "POST", path, body, what: "ask" },
        AbortSignal.timeout(10_000),
      );
      return JSON.parse(answer.text);
    } finally {
      await requesting.close();
    }
  };
  const membersNow = async (): Promise<readonly string[]> =>
    (await query("/v3/cluster/member/list", {})).members.map(
      ({ name }: { readonly name?: string }) => name ?? "",
    );

  await Promise.all(names.map((name, index) => start(name, index + 1)));
  // A cluster is ready when it has a leader. It removes no member before all have known each other for 5 s.
  while ((await reasonOf(remove("nobody", accessTo(1)))) !== undefined) {
    await delay(100);
  }

  await t.test("accepts only its own keys", async (t) => {
    const other = await etcdClient(await createClusterPki(Date.now()));
    t.equal(await reasonOf(remove("cp-3", { ...accessTo(1), ...other })), "WORKLOAD_DENIED");
    const wrongCa = { ...accessTo(1), caCertificatePem: pki.kubernetesCa.certificatePem };
    t.equal(await reasonOf(remove("cp-3", wrongCa)), "WORKLOAD_UNAVAILABLE");
    t.same([...(await membersNow())].toSorted(), names);
  });

  await t.test("a dead member is removed; removing it again does nothing", async (t) => {
    await stop("cp-3");
    await untilDone(() => remove("cp-3", accessTo(3, 1)));
    await remove("cp-3", accessTo(3, 1));
    t.same([...(await membersNow())].toSorted(), ["cp-1", "cp-2"]);
  });

  await t.test("a member that has never started is found by its address", async (t) => {
    await untilDone(async () => {
      const added = await query("/v3/cluster/member/add", { peerURLs: [peerOf(3)], isLearner: true });
      if (added.member === undefined) {
        throw new Error(JSON.stringify(added));
      }
    });
    t.same([...(await membersNow())].toSorted(), ["", "cp-1", "cp-2"]);
    await remove("cp-3", accessTo(1), ["192.0.2.1"]);
    t.equal((await membersNow()).length, 3, "another member's address");
    await remove("cp-3", accessTo(1), [addressOf(3)]);
    t.same([...(await membersNow())].toSorted(), ["cp-1", "cp-2"]);
  });

  await t.test("a live member is removed, but not the last one", async (t) => {
    await untilDone(() => remove("cp-2", accessTo(2, 1)));
    t.same(await membersNow(), ["cp-1"]);
    // The removed member may have been the leader.
    await untilDone(() => remove("nobody", accessTo(1)));
    t.equal(await reasonOf(remove("cp-1", accessTo(1))), "WORKLOAD_FAILED");
    t.same(await membersNow(), ["cp-1"]);
  });

  await t.test("without a majority nothing can be changed", async (t) => {
    // The new member counts at once, even before the response; but none is added in the first seconds after a change.
    const requests: Promise<unknown>[] = [];
    await untilDone(async () => {
      requests.push(query("/v3/cluster/member/add", { peerURLs: [peerOf(3)] }).catch(() => {}));
      await delay(200);
      if ((await membersNow()).length !== 2) {
        throw new Error("not a member yet");
      }
    });
    // etcd 3.4 answers from its local state.
    const isNobody = await reasonOf(remove("nobody", accessTo(1)));
    t.equal(isNobody, program === built ? "WORKLOAD_UNAVAILABLE" : undefined);
    await Promise.all(requests);
    await stop("cp-1");
    t.equal(await reasonOf(remove("cp-9", accessTo(1, 2))), "WORKLOAD_UNAVAILABLE");
  });
}

/** Members are not changed in the first seconds, until they are known to be healthy. */
async function untilDone(work: () => Promise<void>): Promise<void> {
  const end = performance.now() + 20_000;
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (performance.now() > end) {
        throw error;
      }
      await delay(200);
    }
  }
}
