import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Test, test } from "tap";
import { createLibvirtSandbox } from "../../../../adapters/libvirt/sandbox.ts";
import type { LvmAdapter } from "../../../../adapters/lvm/adapter.ts";
import { createLvmSandbox } from "../../../../adapters/lvm/sandbox.ts";
import { createRestic } from "../../../../adapters/restic/restic.ts";
import { createResticInspector } from "../../../../server/backups/inspect-restic.ts";
import { doctor } from "../../../../server/cli/doctor/doctor.ts";
import { createGatewayInspector } from "../../../../server/cli/doctor/inspect-gateway.ts";
import type { Finding } from "../../../../server/domain/inspection.ts";
import { createLibvirtInspector } from "../../../../server/domains/hypervisors/doctor/inspect-libvirt.ts";
import { createLvmInspector } from "../../../../server/domains/volumes/doctor/inspect-lvm.ts";
import { configSchema } from "../../../../server/gateway/config/schema.ts";
import { startGatewayUnderTest } from "../../harness/gateway-under-test.ts";
import { createAuthority } from "../../rpc/listener/authority.ts";
import { createCertificate } from "../../rpc/listener/certificate.ts";
import { hostplane, serveSandbox } from "../run-hostplane.ts";

async function gatewayFindings(
  config: Parameters<typeof configSchema.parse>[0],
): Promise<readonly Finding[]> {
  return (await createGatewayInspector(configSchema.parse(config)).inspect()).findings;
}

/** Creates a directory with a path short enough for a socket, unlike some fixture directories. */
async function shortDirectory(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-"));
  t.teardown(() => rm(directory, { recursive: true }));
  return directory;
}

test("with nothing configured, only the gateway is checked", async (t) => {
  const { code, stdout } = await hostplane([
    "doctor",
    "--listen",
    "127.0.0.1:0",
    "--data",
    await shortDirectory(t),
  ]);
  t.equal(code, 0);
  t.match(stdout, /^ok {7}config {3}no file: no mistakes$/m);
  t.match(stdout, /^ok {7}gateway {2}data directory .* is writable$/m);
  t.match(stdout, /^ok {7}gateway {2}127\.0\.0\.1:0 is free$/m);
  t.match(stdout, /^off {6}systems {2}none configured: only `hostplane serve --sandbox` can run$/m);
});

test("a hub needs no systems of its own", async (t) => {
  const { code, stdout } = await hostplane([
    "doctor",
    "--listen",
    "127.0.0.1:0",
    "--data",
    await shortDirectory(t),
    "--set",
    "fleet.hub.listen=127.0.0.1:0",
  ]);
  t.equal(code, 0);
  t.match(stdout, /^off {6}systems {2}none configured: a hub needs none of its own$/m);
});

test("configuration errors exit with 2", async (t) => {
  t.match(await hostplane(["doctor", "--set", "limits.tools=0"]), { code: 2, stderr: /limits\.tools/ });
});

test("a missing lvm is reported with the fix, and exits with 1", async (t) => {
  const dir = t.testdir({
    "a.yaml":
      "volumes: { deviceClasses: [{ name: a, volumeGroup: b, default: true }], lvm: { command: [/nonexistent/lvm] } }\n",
  });
  const data = await shortDirectory(t);
  const args = ["doctor", "--listen", "127.0.0.1:0", "--data", data, "--config", join(dir, "a.yaml")];
  const { code, stdout, stderr } = await hostplane(args);
  t.equal(stderr, "");
  t.equal(code, 1);
  t.match(stdout, /^missing {2}lvm {6}.+\n {18}-> .+$/m);
});

test("findings are aligned in one column, however long a system's name is", async (t) => {
  const lines: string[] = [];
  const output = { out: (line: string) => lines.push(line), err: () => {} };
  const inspector = {
    name: "kubernetes",
    inspect: async () => ({ version: undefined, findings: [{ ok: false, what: "FOUND", fix: "MEND" }] }),
  };
  const flags = { listen: ["127.0.0.1:0"], data: await shortDirectory(t) };
  await doctor(flags, async () => ({ inspectors: [inspector], close: async () => {} }), output);
  t.match(lines[0], /^ok {7}config {5}no file/);
  t.same(lines.slice(-2), ["missing  kubernetes FOUND", `${" ".repeat(20)}-> MEND`]);
  t.ok(
    lines.every((line) => /^.{19} \S/.test(line)),
    "on every line",
  );
});

test("an address used by another program is reported; one served by hostplane is fine", async (t) => {
  const other = createServer((socket) => socket.end("SSH-2.0-x\r\n"));
  await new Promise<void>((done) => other.listen(0, "127.0.0.1", done));
  t.teardown(() => other.close());
  const bound = other.address();
  const port = typeof bound === "object" ? bound?.port : 0;
  const taken = await gatewayFindings({ listen: [{ address: `127.0.0.1:${port}` }], data: t.testdir() });
  t.match(taken, [{ ok: true }, { ok: false, what: /is not available: .*EADDRINUSE/, fix: /--listen/ }]);

  const gateway = serveSandbox();
  t.teardown(() => gateway.child.kill("SIGKILL"));
  const [, address = ""] = await gateway.untilPrinted(/http:\/\/(\S+)\n/);
  const served = await gatewayFindings({ listen: [{ address }], data: t.testdir() });
  t.match(served, [{ ok: true }, { ok: true, what: /served by a running hostplane/ }]);
});

test("a running hostplane is recognized whatever its listener requires", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "hostplane-"));
  t.teardown(() => rm(dir, { recursive: true }));
  const [pair, authority] = [await createCertificate("doctor.test"), await createAuthority(t, "clients")];
  const [cert, key, clientCa] = ["cert", "key", "ca"].map((name) => join(dir, `${name}.pem`));
  await Promise.all([
    writeFile(cert ?? "", pair.cert),
    writeFile(key ?? "", pair.key),
    writeFile(clientCa ?? "", authority.cert),
  ]);
  const tls = { cert, key };
  const services = ["proto.VGService"];
  const entries = [
    { address: "127.0.0.1:0", services },
    { address: "127.0.0.1:0", tls },
    { address: "0.0.0.0:0", tls },
    { address: "[::]:0", insecure: true, allowFrom: ["192.0.2.1"] },
    { address: "127.0.0.1:0", tls: { ...tls, clientCa } },
    { address: "127.0.0.1:0", tls: { ...tls, clientCa, clientCertificate: "optional" } },
    { address: `unix:${dir}/a.sock`, auth: "none", role: "viewer", services },
  ];
  const { gateway } = await startGatewayUnderTest(t, { listen: entries }, { hasLogin: true });
  const listen = entries.map((entry, at) => ({ ...entry, address: gateway.addresses[at] ?? "" }));
  const served = { ok: true, what: /is served by a running hostplane/ };
  const closed = { ok: true, what: /a process that rejects doctor/ };
  t.match((await gatewayFindings({ data: dir, listen })).slice(1, 8), [
    served,
    served,
    served,
    closed,
    closed,
    served,
    served,
  ]);
});

test("a socket needs a directory, and no other file at its path", async (t) => {
  // The fixture directory's path is too long for a socket.
  const dir = await mkdtemp(join(tmpdir(), "hostplane-"));
  t.teardown(() => rm(dir, { recursive: true }));
  await writeFile(join(dir, "plain"), "");
  const findings = await gatewayFindings({
    data: dir,
    listen: ["none/a.sock", "plain", "new.sock"].map((name) => ({ address: `unix:${dir}/${name}` })),
  });
  t.match(findings.slice(1), [
    { ok: false, what: /cannot create a socket in/, fix: /install -d/ },
    { ok: false, what: /a file that is not a socket/ },
    { ok: true, what: /is free/ },
  ]);
});

test("a socket's directory may be missing if systemd creates it at the start", async (t) => {
  const dir = await shortDirectory(t);
  const config = configSchema.parse({ data: dir, listen: [{ address: `unix:${dir}/run/a.sock` }] });
  const inspector = createGatewayInspector(config, `${dir}/other:${dir}/run`);
  t.match((await inspector.inspect()).findings.slice(1), [{ ok: true, what: /is free: systemd creates/ }]);
  const others = createGatewayInspector(config, `${dir}/other`);
  t.match((await others.inspect()).findings.slice(1), [{ ok: false, what: /cannot create a socket/ }]);
});

test("the data directory must be writable", async (t) => {
  const dir = t.testdir({ file: "" });
  const [below] = await gatewayFindings({
    data: join(dir, "new/deep"),
    listen: [{ address: "127.0.0.1:0" }],
  });
  t.match(below, { ok: true });
  const [onFile] = await gatewayFindings({ data: join(dir, "file"), listen: [{ address: "127.0.0.1:0" }] });
  t.match(onFile, { ok: false, what: /file is not a directory/, fix: /--data/ });
  await mkdir(join(dir, "locked"));
  await chmod(join(dir, "locked"), 0o500);
  const [locked] = await gatewayFindings({ data: join(dir, "locked"), listen: [{ address: "127.0.0.1:0" }] });
  // Root can write to any directory.
  t.equal(locked?.ok, process.getuid?.() === 0);
});

test("certificates must be readable and match their keys", async (t) => {
  const dir = t.testdir();
  await writeFile(join(dir, "cert.pem"), "");
  const tls = { cert: join(dir, "cert.pem"), key: join(dir, "key.pem") };
  const findings = await gatewayFindings({ data: dir, listen: [{ address: "127.0.0.1:0", tls }] });
  t.match(findings.slice(2), [{ ok: false, what: /cert\.pem.*key\.pem.*ENOENT/, fix: /PEM/ }]);
  await writeFile(join(dir, "key.pem"), "no key");
  const mixed = await gatewayFindings({ data: dir, listen: [{ address: "127.0.0.1:0", tls }] });
  t.match(mixed.slice(2), [{ ok: false, what: /cert\.pem.*cannot be used/ }]);
  const { cert, key } = await createCertificate("doctor.test");
  await writeFile(tls.cert, cert);
  await writeFile(tls.key, key);
  const good = await gatewayFindings({ data: dir, listen: [{ address: "127.0.0.1:0", tls }] });
  t.match(good.slice(2), [{ ok: true, what: /matches key/ }]);
  const withCa = { ...tls, clientCa: tls.key };
  const noCa = await gatewayFindings({ data: dir, listen: [{ address: "127.0.0.1:0", tls: withCa }] });
  t.match(noCa.slice(2), [{ ok: false, what: /key\.pem: it contains no certificate/, fix: /clientCa/ }]);
});

test("each device class needs its volume group or thin pool", async (t) => {
  const sandbox = createLvmSandbox();
  t.teardown(() => sandbox.close());
  const { value } = await sandbox.read();
  const volumeGroup = value.volumeGroups[0]?.name ?? "";
  const found: LvmAdapter = { ...sandbox, inspect: async () => ({ version: "2.03.16(2)", findings: [] }) };
  const classes = [
    { name: "a", volumeGroup, default: true, spareGiB: 0 },
    { name: "b", volumeGroup: "none", default: false, spareGiB: 0 },
    { name: "c", volumeGroup, thinPool: "none", default: false, spareGiB: 0 },
  ];
  t.match((await createLvmInspector(found, classes).inspect()).findings, [
    { ok: true, what: /^device class a: \S+ found$/ },
    { ok: false, what: /^device class b: volume group none not found$/, fix: /vgimport none/ },
    { ok: false, what: /^device class c: \S+ has no thin pool none$/, fix: /lvcreate --type thin-pool/ },
  ]);
});

test("a state that LVM cannot read is reported once, not for the classes again", async (t) => {
  const sandbox = createLvmSandbox();
  t.teardown(() => sandbox.close());
  const unreadable = {
    ok: false,
    what: "the state cannot be read: no devices",
    fix: "run the gateway as root",
  };
  const lvm: LvmAdapter = {
    ...sandbox,
    read: () => Promise.reject(new Error("no devices")),
    inspect: async () => ({ version: "2.03.16(2)", findings: [unreadable] }),
  };
  const classes = [{ name: "a", volumeGroup: "vg0", default: true, spareGiB: 0 }];
  t.same((await createLvmInspector(lvm, classes).inspect()).findings, [unreadable]);
  const readableBefore: LvmAdapter = { ...lvm, inspect: async () => ({ version: "2", findings: [] }) };
  t.match((await createLvmInspector(readableBefore, classes).inspect()).findings, [
    { ok: false, what: "no devices" },
  ]);
});

test("templates need their pool, image, GPUs and network", async (t) => {
  const libvirt = createLibvirtSandbox();
  t.teardown(() => libvirt.close());
  const template = {
    vcpuCount: 1,
    memoryMib: 64,
    seed: true,
    ready: { kind: "started" },
    readyTimeoutSeconds: 1,
  } as const;
  const settings = {
    templates: [
      {
        id: "a",
        ...template,
        disk: { pool: "sandbox-pool", sizeGib: 1, backing: "none" },
        network: "sandbox-net",
        gpus: [],
      },
      {
        id: "b",
        ...template,
        disk: { pool: "none", sizeGib: 1 },
        network: "none",
        gpus: ["0000:41:00.0", "0000:01:00.0"],
      },
      { id: "c", ...template, disk: { pool: "sandbox-pool", sizeGib: 1 }, network: "off", gpus: [] },
    ],
    match: [],
    destroy: { graceSeconds: 0, deleteVolumes: false },
    sharedStorage: { directory: "/srv/pool", libvirtPool: "shared" },
  };
  const networks = [
    { name: "sandbox-net", isActive: true },
    { name: "off", isActive: false },
  ];
  const inspectable = {
    ...libvirt,
    inspect: async () => ({ ...(await libvirt.inspect()), networks }),
  };
  const { findings } = await createLibvirtInspector(inspectable, settings).inspect();
  t.match(findings.slice(1), [
    { ok: true, what: /^storage pool sandbox-pool: \d+ GiB free$/ },
    { ok: false, what: /sandbox-pool has no base image none/, fix: /virsh pool-refresh sandbox-pool/ },
    { ok: false, what: "storage pool none not found", fix: /virsh pool-list/ },
    { ok: false, what: "storage pool shared not found", fix: /correct .* hypervisors\.pool\.libvirtPool/ },
    { ok: true, what: "GPU 0000:41:00.0: Sandbox Graphics SG-1" },
    { ok: false, what: /no GPU .* 0000:01:00\.0/, fix: /lspci/ },
    { ok: true, what: "network sandbox-net" },
    { ok: false, what: "no network none", fix: /virsh net-list/ },
    {
      ok: false,
      what: "the network off is not active",
      fix: "virsh net-start off && virsh net-autostart off",
    },
  ]);
});

test("the pool that hypervisors share must be an active libvirt pool, and is checked once", async (t) => {
  const libvirt = createLibvirtSandbox();
  t.teardown(() => libvirt.close());
  const settings = { templates: [], match: [], destroy: { graceSeconds: 0, deleteVolumes: false } };
  const findings = async (isActive: boolean) => {
    const snapshot = await libvirt.read();
    const pools = snapshot.value.pools.map((pool) => ({ ...pool, isActive }));
    const read = async () => ({ ...snapshot, value: { ...snapshot.value, pools } });
    const sharedStorage = { libvirtPool: "sandbox-pool" };
    const inspector = createLibvirtInspector({ ...libvirt, read }, { ...settings, sharedStorage });
    return (await inspector.inspect()).findings.slice(1);
  };
  t.match(await findings(true), [{ ok: true, what: /^storage pool sandbox-pool: \d+ GiB free$/ }]);
  t.match(await findings(false), [
    { ok: false, what: /sandbox-pool is not active/, fix: /^virsh pool-start sandbox-pool && / },
  ]);
});

test("doctor checks what backups of the pool need, and fixes name the pool's own keys", async (t) => {
  const dir = t.testdir({ file: "" });
  const backup = { repository: join(dir, "file"), restic: { command: [process.execPath] } };
  const pool = { directory: dir, backup };
  const uri = `qemu+unix:///session?socket=${dir}/none`;
  const libvirt = { uri, seedTool: ["true"], socketsDirectory: "/nonexistent" };
  await writeFile(join(dir, "a.yaml"), JSON.stringify({ hypervisors: { libvirt, pool } }));
  const data = await shortDirectory(t);
  const args = ["doctor", "--listen", "127.0.0.1:0", "--data", data, "--config", join(dir, "a.yaml")];
  const { code, stdout, stderr } = await hostplane(args);
  t.equal(stderr, "");
  t.equal(code, 1);
  t.match(
    stdout,
    /^missing {2}pool {5}.* cannot be backed up: .*\n {18}-> .*hypervisors\.pool\.libvirtPool/m,
  );
  t.match(stdout, /^(ok|missing) +pool {5}disks of running VMs .*$/m);
  t.match(stdout, /^missing {2}pool {5}the directory \/nonexistent for backup sockets does not exist$/m);
  t.match(stdout, /^missing {2}restic {3}/m);
});

test("a single failed finding makes the exit code 1", async (t) => {
  const lines: string[] = [];
  const output = { out: (line: string) => void lines.push(line), err: (line: string) => t.fail(line) };
  let isClosed = false;
  const inspector = {
    name: "ceph",
    inspect: async () => ({
      version: "19",
      findings: [{ ok: false, what: "no keyring", fix: "ceph auth get" }],
    }),
  };
  const code = await doctor(
    { listen: ["127.0.0.1:0"], data: t.testdir() },
    async () => ({
      inspectors: [inspector],
      close: async () => {
        isClosed = true;
      },
    }),
    output,
  );
  t.equal(code, 1);
  t.ok(isClosed);
  t.match(lines.slice(-2), ["missing  ceph     no keyring", /^ {18}-> ceph auth get$/]);
});

test("restic is checked if backups are configured: the tool, its directories and its wrapper command", async (t) => {
  const dir = t.testdir({ file: "" });
  const bin = join(dir, "restic");
  await writeFile(bin, "#!/bin/sh\necho restic 0.14.0 compiled with go1.19.8 on linux/amd64\n", {
    mode: 0o755,
  });
  async function findings(restic: { command: string[]; cacheDir?: string }, repository?: string) {
    const adapter = createRestic(restic);
    t.teardown(() => adapter.close());
    const backup = { restic, ...(repository === undefined ? {} : { repository }) };
    return (await createResticInspector(adapter, backup, dir, "volumes.backup").inspect()).findings;
  }
  t.match(await findings({ command: [bin] }, join(dir, "new/repository")), [
    { ok: true, what: "restic 0.14.0" },
    { ok: true, what: `repository ${dir}/new/repository does not exist yet and can be created in ${dir}` },
    { ok: true, what: `cache directory ${dir}/restic-cache does not exist yet and can be created in ${dir}` },
  ]);
  t.match(await findings({ command: [bin], cacheDir: join(dir, "file/cache") }, join(dir, "file")), [
    { ok: true },
    { ok: false, what: /file is not a directory/, fix: /volumes\.backup\.repository/ },
    { ok: false, what: /file is not a directory/, fix: /volumes\.backup\.restic\.cacheDir/ },
  ]);
  t.match(await findings({ command: ["env", "-u", "RESTIC_PASSWORD", bin] }, join(dir, "file")), [
    { ok: true },
    { ok: false, what: /does not pass on RESTIC_PASSWORD$/, fix: /keep the environment/ },
  ]);
  t.match(await findings({ command: [join(dir, "none")] }), [
    { ok: false, what: /cannot be run/, fix: /apt-get install restic/ },
  ]);
});

test("doctor reports restic after lvm", async (t) => {
  const dir = t.testdir({
    "a.yaml":
      "volumes: { deviceClasses: [{ name: a, volumeGroup: b, default: true }], lvm: { command: [/none/lvm] }, backup: { restic: { command: [/none/restic] } } }\n",
  });
  const data = await shortDirectory(t);
  const args = ["doctor", "--listen", "127.0.0.1:0", "--data", data, "--config", join(dir, "a.yaml")];
  const { code, stdout } = await hostplane(args);
  t.equal(code, 1);
  t.match(
    stdout,
    /^missing {2}lvm {6}.*\n(.*\n)*missing {2}restic {3}`\/none\/restic` cannot be run.*\n {18}-> apt-get install restic/m,
  );
});
