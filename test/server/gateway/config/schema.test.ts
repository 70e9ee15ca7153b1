import { test } from "tap";
import { configKeys } from "../../../../server/gateway/config/keys.ts";
import { configSchema } from "../../../../server/gateway/config/schema.ts";

const ssd = { name: "ssd", volumeGroup: "vg0", default: true };

function messagesOf(input: unknown): string[] {
  const result = configSchema.safeParse(input);
  return (result.error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);
}

function messagesOfClasses(...deviceClasses: unknown[]): string[] {
  return messagesOf({ volumes: { deviceClasses } });
}

test("an empty configuration has every default", async (t) => {
  t.same(configSchema.parse({}), {
    listen: [{ address: "127.0.0.1:8080", mode: 0o600 }],
    data: "./data",
    store: "sqlite",
    auth: { tokenHours: 12, audience: "hostplane", checkSeconds: 25, providers: [] },
    log: { level: "info", format: "auto" },
    cors: { origins: [] },
    limits: {
      maxMessageBytes: 4194304,
      maxDeadlineMs: 60000,
      maxConcurrentStreams: 128,
      headerBytes: 16384,
      writeTimeoutMs: 30000,
      tools: 8,
      toolsWaiting: 256,
      caller: {
        requestsPerSecond: 1000,
        reads: 16,
        streams: 256,
        mutations: 32,
        cpuMsPerSecond: 500,
        unreadBytes: 67_108_864,
      },
      unknown: {
        connections: 1024,
        connectionsPerAddress: 256,
        cpuMsPerSecond: 200,
        memoryBytes: 33554432,
        memoryBytesPerAddress: 16777216,
      },
    },
    audit: { keepDays: 365 },
    approvals: { rules: [] },
    operations: { perSystem: 4, maxOpen: 1000, leaseMs: 5000, keepDays: 30 },
    events: { keepDays: 7 },
    history: { maxBytes: 67_108_864, stepMs: 60_000 },
    fleet: { agent: { ceiling: { role: "operator", reservedMethods: [], protect: [] } } },
    keepAliveMs: 15000,
    shutdownGraceMs: 1500,
  });
});

test("the names of device classes are keys of the topology for CSI", async (t) => {
  const named = (name: string) => ({ name, volumeGroup: name.slice(0, 20), default: name === "ssd" });
  const messagesWithCsi = (...names: string[]) =>
    messagesOf({ volumes: { deviceClasses: names.map(named), csi: {} } });
  const long = "a".repeat(58);
  t.same(messagesOfClasses(...["ssd", "SSD", long].map(named)), []);
  t.same(messagesWithCsi("ssd", "hdd", long.slice(1)), []);
  t.match(messagesWithCsi("ssd", "SSD", long), [
    /^volumes\.deviceClasses\.1\.name: expected a name that differs/,
    /^volumes\.deviceClasses\.2\.name: expected at most 57 characters/,
  ]);
});

test("volumes need only one class", async (t) => {
  t.same(configSchema.parse({ volumes: { deviceClasses: [ssd] } }).volumes, {
    deviceClasses: [{ ...ssd, spareGiB: 10 }],
    lvcreateOptionClasses: [],
    protect: [],
    lowSpacePercent: 10,
    lvm: { command: ["lvm"], activation: "auto" },
  });
});

test("a thin pool is refused without device-mapper", async (t) => {
  const deviceClasses = [ssd, { name: "thin", volumeGroup: "vg0", thinPool: "p" }];
  const refused = configSchema.safeParse({ volumes: { deviceClasses, lvm: { activation: "none" } } });
  t.match(refused.error?.issues, [{ path: ["volumes", "deviceClasses", 1, "thinPool"] }]);
  t.ok(configSchema.safeParse({ volumes: { deviceClasses } }).success);
});

test("exactly one device class is the default", async (t) => {
  t.match(messagesOfClasses(), [/deviceClasses: /]);
  t.match(messagesOfClasses({ ...ssd, default: false }), [
    /deviceClasses: expected one of them with default/,
  ]);
  t.match(messagesOfClasses(ssd, { name: "b", volumeGroup: "vg1", default: true }), [
    /1\.default: expected only one/,
  ]);
});

test("names, volume groups and pools of device classes are unique", async (t) => {
  t.match(messagesOfClasses(ssd, { name: "ssd", volumeGroup: "vg1" }), [/1\.name: .*entry 1.*ssd/]);
  t.match(messagesOfClasses(ssd, { name: "b", volumeGroup: "vg0" }), [/1\.volumeGroup: .*entry 1.*vg0/]);
  const thin = { name: "thin", volumeGroup: "vg0", thinPool: "p" };
  t.same(messagesOfClasses(ssd, thin, { ...thin, name: "c", thinPool: "q" }), []);
  t.same(messagesOfClasses(ssd, thin, { ...thin, name: "c", volumeGroup: "vg1" }), []);
  t.match(messagesOfClasses(ssd, thin, { ...thin, name: "c" }), [/2\.thinPool: .*entry 2.*vg0\/p/]);
});

test("overprovision is at least 1 and requires a thin pool", async (t) => {
  t.match(messagesOfClasses({ ...ssd, overprovision: 2 }), [/overprovision: expected only with thinPool/]);
  t.same(messagesOfClasses({ ...ssd, thinPool: "p", overprovision: 1.5 }), []);
  t.match(messagesOfClasses({ ...ssd, thinPool: "p", overprovision: 0.5 }), [/overprovision/]);
});

test("class names follow lvmd's rule", async (t) => {
  for (const name of ["a", "9", "a.b_c-d", "x".repeat(63)]) {
    t.same(messagesOfClasses({ ...ssd, name }), [], name);
  }
  for (const name of ["", "-a", "a-", "a b", ".", "x".repeat(64), "é"]) {
    t.not(messagesOfClasses({ ...ssd, name }).length, 0, name);
  }
});

test("volume groups and thin pools have names that LVM accepts", async (t) => {
  for (const name of ["", "-vg", "a b", "../vg", "vg0/lv", ".", "x".repeat(125)]) {
    t.match(messagesOfClasses({ ...ssd, volumeGroup: name }), [/volumeGroup: expected an LVM name: m/], name);
    t.match(messagesOfClasses({ ...ssd, thinPool: name }), [/thinPool: expected an LVM name: m/], name);
  }
  t.match(messagesOfClasses({ ...ssd, thinPool: "snapshot1" }), [/thinPool: .*which LVM reserves/]);
  t.match(messagesOfClasses({ ...ssd, volumeGroup: "v".repeat(100), thinPool: "p".repeat(50) }), [
    /at most 24 char/,
  ]);
});

test("an address is given once, port 0 any number of times", async (t) => {
  const listen = (...addresses: string[]) =>
    messagesOf({ listen: addresses.map((address) => ({ address })) });
  t.match(listen("127.0.0.1:1", "127.0.0.1:01"), [/listen\.1\.address: .*entry 1/]);
  t.match(listen("unix:/a", "unix:/a"), [/listen\.1\.address/]);
  t.same(listen("127.0.0.1:0", "127.0.0.1:0"), []);
  t.match(listen(), [/listen/]);
});

test("mode is for sockets, tls for TCP", async (t) => {
  const tls = { cert: "c", key: "k" };
  t.match(messagesOf({ listen: [{ address: "127.0.0.1:1", mode: "0600" }] }), [
    /mode: expected only with a unix/,
  ]);
  t.match(messagesOf({ listen: [{ address: "unix:/a", tls }] }), [/tls: expected only with a host/]);
  t.same(
    messagesOf({
      listen: [
        { address: "127.0.0.1:1", tls },
        { address: "unix:/a", mode: "0660" },
      ],
    }),
    [],
  );
  t.equal(configSchema.parse({ listen: [{ address: "unix:/a", mode: "0660" }] }).listen[0]?.mode, 0o660);
  for (const mode of [600, "600", "0888", "00600"]) {
    t.match(messagesOf({ listen: [{ address: "unix:/a", mode }] }), [/octal/], String(mode));
  }
});

test("a listener's client certificates need an authority, and are required by default", async (t) => {
  const tlsOf = (more: object) =>
    configSchema.parse({ listen: [{ address: "127.0.0.1:1", tls: { cert: "c", key: "k", ...more } }] })
      .listen[0]?.tls;
  t.same(tlsOf({}), { cert: "c", key: "k" });
  t.match(tlsOf({ clientCa: "a" }), { clientCa: "a", clientCertificate: "required" });
  t.match(tlsOf({ clientCa: "a", clientCertificate: "optional" }), { clientCertificate: "optional" });
  t.match(
    messagesOf({
      listen: [{ address: "127.0.0.1:1", tls: { cert: "c", key: "k", clientCertificate: "optional" } }],
    }),
    [/tls\.clientCertificate: expected only with clientCa/],
  );
});

test("traces go to a URL without a secret", async (t) => {
  t.match(configSchema.parse({ tracing: { endpoint: "http://127.0.0.1:4318/v1/traces" } }).tracing, {
    sampleRatio: 1,
  });
  for (const endpoint of ["127.0.0.1:4318", "grpc://a", "http://", "https://name:word@a/"]) {
    t.match(messagesOf({ tracing: { endpoint } }), [/tracing\.endpoint: expected the http/], endpoint);
  }
  t.match(messagesOf({ tracing: { endpoint: "http://a", sampleRatio: 1.1 } }), [/sampleRatio/]);
});

test("every key has a description, and every settable one its own variable", async (t) => {
  const keys = configKeys();
  for (const { path, description } of keys) {
    t.match(description, /\.$/, path);
  }
  const variables = keys.flatMap(({ variable }) => variable ?? []);
  t.equal(new Set(variables).size, variables.length);
  t.equal(
    keys.find(({ path }) => path === "limits.maxMessageBytes")?.variable,
    "HOSTPLANE_LIMITS_MAX_MESSAGE_BYTES",
  );
  t.match(
    keys.find(({ path }) => path === "store"),
    { isSecret: true, variable: "HOSTPLANE_STORE", flag: undefined },
  );
  t.equal(keys.find(({ path }) => path === "listen[].mode")?.variable, undefined);
});

test("a backup endpoint is text or a group, and mistakes are those of the given one", async (t) => {
  const backup = (value: unknown) => ({ volumes: { deviceClasses: [ssd], backup: value } });
  t.same(configSchema.parse(backup({})).volumes?.backup, {
    snapshotPercent: 10,
    allowEndpoints: [],
    minimumAgeHours: 1,
    schedules: [],
    restic: { command: ["restic"] },
  });
  const allowEndpoints = [
    "https://s3.example.org",
    { url: "http://127.0.0.1:9000", proxies: ["http://proxy:3128"], unverifiedTls: true },
  ];
  t.same(configSchema.parse(backup({ allowEndpoints })).volumes?.backup?.allowEndpoints, [
    { url: "https://s3.example.org", proxies: [], unverifiedTls: false },
    allowEndpoints[1],
  ]);
  for (const repository of ["backup", "s3:https://a/b", "/srv/../backup", "/srv/\u0007"]) {
    t.match(messagesOf(backup({ repository })), [/repository: expected a path: must/], repository);
  }
});

test("backups are refused without block devices", async (t) => {
  const input = { volumes: { deviceClasses: [ssd], lvm: { activation: "none" }, backup: {} } };
  t.match(messagesOf(input), [/^volumes\.backup: expected only with lvm\.activation: auto/]);
});

test("a schedule needs a time, existing resources, and a place for its backups", async (t) => {
  const backup = (schedules: readonly unknown[], rest: object = { repository: "/srv/backup" }) => ({
    volumes: { deviceClasses: [ssd], backup: { ...rest, schedules } },
  });
  const nightly = { name: "nightly", volumes: ["data*"], cron: "0 2 * * *" };
  const schedules = [
    { ...nightly, timeZone: "Europe/Berlin", keep: { last: 3 } },
    { name: "often", volumes: ["db"], deviceClass: "ssd", everyHours: 6 },
  ];
  t.same(configSchema.parse(backup(schedules)).volumes?.backup?.schedules, [
    { ...nightly, timeZone: "Europe/Berlin", keep: { last: 3, daily: 0, weekly: 0 } },
    { name: "often", volumes: ["db"], deviceClass: "ssd", everyHours: 6, timeZone: "UTC" },
  ]);
  t.same(configSchema.parse(backup([nightly])).volumes?.backup?.schedules, [{ ...nightly, timeZone: "UTC" }]);
  const at = "volumes\\.backup\\.schedules\\.0\\.";
  const mistakes: readonly (readonly [object, string])[] = [
    [{ everyHours: 6 }, `${at}everyHours: expected only without cron`],
    [{ cron: "0 2 * *" }, `${at}cron: expected five cron fields`],
    [{ cron: "0 0 2 * * *" }, `${at}cron: expected five cron fields`],
    [{ cron: "0 2 30 2 *" }, `${at}cron: expected five cron fields that match`],
    [{ timeZone: "Mars/Crater" }, `${at}timeZone: expected the name of a time zone`],
    [{ name: "a/b" }, `${at}name: expected letters`],
    [{ volumes: [] }, `${at}volumes: `],
    [{ keep: {} }, `${at}keep: expected at least one number above 0`],
    [{ deviceClass: "none" }, `${at}deviceClass: expected one of the device classes: ssd`],
  ];
  for (const [change, words] of mistakes) {
    t.match(messagesOf(backup([{ ...nightly, ...change }])), [new RegExp(words)], JSON.stringify(change));
  }
  const { cron: _cron, ...never } = nightly;
  t.match(messagesOf(backup([never])), [/0\.cron: expected cron or everyHours/]);
  t.match(messagesOf(backup([nightly, nightly])), [/schedules\.1\.name: expected a unique value/]);
  t.match(messagesOf(backup([nightly], {})), [
    /backup\.repository: expected the directory that the schedules/,
  ]);
});

const template = { ids: "hv-{08..11}", vcpus: 2, memoryMib: 2048, disk: { pool: "default", sizeGib: 10 } };

function messagesOfHypervisors(hypervisors: unknown): string[] {
  return messagesOf({ hypervisors });
}

test("hypervisors need no key at all, a template only its size", async (t) => {
  t.same(configSchema.parse({ hypervisors: {} }).hypervisors, {
    libvirt: { uri: "qemu:///system", seedTool: ["xorrisofs"] },
    match: [],
    templates: [],
    destroy: { graceSeconds: 0, deleteVolumes: false },
  });
  t.same(configSchema.parse({ hypervisors: { templates: [template] } }).hypervisors?.templates, [
    { ...template, gpus: [], seed: true, ready: "started", readyTimeoutSeconds: 600 },
  ]);
});

test("template ids are distinct and valid names of VMs", async (t) => {
  const messagesOfIds = (...patterns: string[]) =>
    messagesOfHypervisors({ templates: patterns.map((ids) => ({ ...template, ids })) });
  t.same(messagesOfIds("hv-{1..3}", "hv-4", "hv-{01..03}"), []);
  t.match(messagesOfIds("hv-{1..3}", "hv-2"), [/templates\.1\.ids: .*entry 1 .*hv-2/]);
  t.match(messagesOfIds("hv-{1..6000}", "hw-{1..6000}"), [/at most 10000 ids/]);
  for (const ids of [
    "",
    "-a",
    "a b",
    "hv-{1..2}-{1..2}",
    "hv-{2..1}",
    "hv-{a..b}",
    "x".repeat(64),
    "hv-{1..99999}",
  ]) {
    t.match(messagesOfIds(ids), [/templates\.0\.ids: expected an id/], ids);
  }
});

test("a hypervisor is ready by one of three conditions", async (t) => {
  const messagesOfReady = (ready: string) => messagesOfHypervisors({ templates: [{ ...template, ready }] });
  for (const ready of ["started", "agent", "tcp:1", "tcp:65535"]) {
    t.same(messagesOfReady(ready), [], ready);
  }
  for (const ready of ["", "tcp", "tcp:0", "tcp:65536", "udp:22", "agent "]) {
    t.match(messagesOfReady(ready), [/ready: expected started, agent, or tcp/], ready);
  }
});

test("GPUs are named by their PCI address", async (t) => {
  const messagesOfGpu = (gpu: string) => messagesOfHypervisors({ templates: [{ ...template, gpus: [gpu] }] });
  t.same(messagesOfGpu("0000:41:00.0"), []);
  for (const gpu of ["41:00.0", "0000:41:00", "0000:41:00.8", "0000:4G:00.0"]) {
    t.match(messagesOfGpu(gpu), [/gpus\.0: expected a PCI address/], gpu);
  }
});

test("the storage pool is a volume group or a directory", async (t) => {
  const messagesOfPool = (pool: object) => messagesOfHypervisors({ pool });
  t.same(messagesOfPool({ volumeGroup: "vg0", devices: ["/dev/sda", "/dev/sdb"], libvirtPool: "p" }), []);
  t.same(messagesOfPool({ directory: "/srv/pool" }), []);
  t.match(messagesOfPool({}), [/volumeGroup: expected volumeGroup or directory/]);
  t.match(messagesOfPool({ volumeGroup: "vg0", directory: "/srv" }), [/directory: expected only without/]);
  t.match(messagesOfPool({ directory: "/srv", devices: ["/dev/sda"] }), [/devices: expected only with vol/]);
  t.match(messagesOfPool({ volumeGroup: "vg0", devices: ["sda"] }), [/devices\.0: expected a path/]);
  t.match(messagesOfPool({ volumeGroup: "vg0", devices: ["/dev/sda", "/dev/sda"] }), [
    /devices\.1: .*entry 1/,
  ]);
  t.match(messagesOfPool({ volumeGroup: "-vg" }), [/volumeGroup: expected an LVM name/]);
});

test("backups of the storage pool need only a repository, and block devices in a volume group", async (t) => {
  const pool = { directory: "/srv/pool", backup: { repository: "/srv/backup" } };
  t.same(configSchema.parse({ hypervisors: { pool } }).hypervisors?.pool?.backup, {
    repository: "/srv/backup",
    snapshotPercent: 10,
    minimumAgeHours: 1,
    restic: { command: ["restic"] },
  });
  const messagesOfPool = (more: object) => messagesOfHypervisors({ pool: { ...pool, ...more } });
  t.match(messagesOfPool({ backup: {} }), [/pool\.backup\.repository: /]);
  t.match(messagesOfPool({ backup: { repository: "backup" } }), [/repository: expected a path: must/]);
  const group = { volumeGroup: "vg0", backup: pool.backup, lvm: { activation: "none" } };
  t.match(messagesOfHypervisors({ pool: group }), [/pool\.backup: expected only with lvm\.activation: auto/]);
  t.same(messagesOfPool({ lvm: { activation: "none" } }), [], "a directory has no block devices");
});

test("the directory of sockets is an absolute path with room for their names", async (t) => {
  const messagesOfDirectory = (socketsDirectory: string) =>
    messagesOfHypervisors({ libvirt: { socketsDirectory } });
  t.same(messagesOfDirectory(`/${"d".repeat(49)}`), []);
  for (const directory of ["", "run", "./run", `/${"d".repeat(50)}`, `/${"é".repeat(25)}`, "/a\nb"]) {
    t.match(messagesOfDirectory(directory), [/socketsDirectory: expected a path: must/], directory);
  }
});

test("copies of the store on a schedule are only for SQLite", async (t) => {
  const storeBackups = { directory: "/backup" };
  t.same(configSchema.parse({ storeBackups }).storeBackups, {
    directory: "/backup",
    everyHours: 24,
    keep: 7,
  });
  const messageOf = (settings: object) => configSchema.safeParse(settings).error?.issues[0]?.message;
  t.equal(
    messageOf({ storeBackups, store: "postgres://hostplane@db.example/hostplane" }),
    "expected no storeBackups, because the store is PostgreSQL: use pg_dump",
  );
  t.equal(messageOf({ storeBackups: { directory: "backup" } }), "expected an absolute path");
  for (const bad of [{ everyHours: 0 }, { everyHours: 1.5 }, { keep: 0 }, { keepp: 1 }]) {
    t.ok(messageOf({ storeBackups: { ...storeBackups, ...bad } }), JSON.stringify(bad));
  }
});
