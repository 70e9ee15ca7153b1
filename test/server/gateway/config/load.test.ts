import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { test } from "tap";
import { formatMistake } from "../../../../server/config/mistake.ts";
import { type ConfigSources, loadConfig } from "../../../../server/gateway/config/load.ts";
import type { Config } from "../../../../server/gateway/config/schema.ts";

async function configOf(sources: Partial<ConfigSources>): Promise<Config> {
  const loaded = await loadConfig({ env: {}, ...sources });
  if (!loaded.ok) {
    throw new Error(loaded.mistakes.map(formatMistake).join("\n"));
  }
  return loaded.config;
}

async function mistakesOf(sources: Partial<ConfigSources>): Promise<string[]> {
  const loaded = await loadConfig({ env: {}, ...sources });
  return loaded.ok ? [] : loaded.mistakes.map(formatMistake);
}

test("flags override the environment, which overrides the file, which overrides defaults", async (t) => {
  const dir = t.testdir({
    "a.yaml": "data: /file\nlog: { level: warn, format: json }\nkeepAliveMs: 20000\n",
  });
  const file = join(dir, "a.yaml");
  const env = { HOSTPLANE_DATA: "/env", HOSTPLANE_LOG_LEVEL: "error", HOSTPLANE_LIMITS_TOOLS: "3" };
  const config = await configOf({ file, env, flags: { logLevel: "debug", set: ["limits.tools=4"] } });
  t.match(config, {
    data: "/env",
    log: { level: "debug", format: "json" },
    keepAliveMs: 20000,
    limits: { tools: 4, toolsWaiting: 256 },
  });
});

test("HOSTPLANE_CONFIG names the file; --config overrides it", async (t) => {
  const dir = t.testdir({ "a.yaml": "data: /a\n", "b.yaml": "data: /b\n" });
  const env = { HOSTPLANE_CONFIG: join(dir, "a.yaml") };
  t.equal((await configOf({ env })).data, "/a");
  t.equal((await configOf({ env, file: join(dir, "b.yaml") })).data, "/b");
});

test("the default of data is the state directory of the systemd unit", async (t) => {
  const dir = t.testdir({ "a.yaml": "data: /file\n" });
  const env = { STATE_DIRECTORY: "/var/lib/hostplane:/var/lib/other" };
  t.equal((await configOf({ env })).data, "/var/lib/hostplane");
  t.equal((await configOf({ env, file: join(dir, "a.yaml") })).data, "/file");
  t.equal((await configOf({ env: { ...env, HOSTPLANE_DATA: "/env" } })).data, "/env");
  t.equal((await configOf({ env: { STATE_DIRECTORY: "" } })).data, "./data");
});

test("lists are separated by commas, or written as in YAML", async (t) => {
  const set = [
    "volumes.deviceClasses=[{name: a, volumeGroup: b, default: true}]",
    "volumes.lvm.command=sudo,-n,lvm",
  ];
  const env = { HOSTPLANE_LISTEN: "127.0.0.1:0, unix:/tmp/a", HOSTPLANE_VOLUMES_PROTECT: "root,swap*" };
  const config = await configOf({ env, flags: { set } });
  t.same(
    config.listen.map(({ address }) => address),
    ["127.0.0.1:0", "unix:/tmp/a"],
  );
  t.same(config.volumes?.protect, ["root", "swap*"]);
  t.same(config.volumes?.lvm.command, ["sudo", "-n", "lvm"]);
  t.match(config.volumes?.deviceClasses, [{ name: "a", volumeGroup: "b", default: true }]);
  const yaml = await configOf({ env: { HOSTPLANE_LISTEN: '[{address: "unix:/a", mode: "0660"}]' } });
  t.match(yaml.listen, [{ address: "unix:/a", mode: 0o660 }]);
  t.match(await configOf({ flags: { listen: ["127.0.0.1:0", "127.0.0.1:0"] } }), { listen: [{}, {}] });
});

test("every mistake in a file is reported with its position, what was found and what was expected", async (t) => {
  const dir = t.testdir({
    "bad.yaml": [
      "listen:",
      "  - address: 0.0.0.0:70000",
      "    host: self",
      "  - adress: 127.0.0.1:1",
      "  - { address: 'unix:/a', mode: 0600 }",
      "log:",
      "  level: loud",
      "limits: { tools: many, toolsWaiting: -4 }",
      "cors:",
      "clusters: { maas: {} }",
      "volumes:",
      "  deviceClasses:",
      "    - { name: ssd, volumeGroup: vg0, defualt: true }",
      "directPath: false",
    ].join("\n"),
  });
  const file = join(dir, "bad.yaml");
  const mistakes = (await mistakesOf({ file })).map((line) => line.slice(file.length + 1));
  t.match(mistakes, [
    /^2:5: listen\[0\]\.address: found "0\.0\.0\.0:70000", expected a port from 0 to 65535$/,
    /^3:5: listen\[0\]\.host: not in this version/,
    /^4:5: listen\[1\]\.address: missing, expected text$/,
    /^4:5: listen\[1\]\.adress: unknown key; did you mean "address"\?$/,
    /^5:27: listen\[2\]\.mode: found 600, expected an octal mode/,
    /^7:3: log\.level: found "loud", expected one of trace, debug/,
    /^9:1: cors: found nothing, expected a group of keys$/,
    /^8:11: limits\.tools: found "many", expected integer, 1 to 1024$/,
    /^8:24: limits\.toolsWaiting: found -4, expected integer, 0 to 65535$/,
    /^13:38: volumes\.deviceClasses\[0\]\.defualt: unknown key; did you mean "default"\?$/,
    /^12:3: volumes\.deviceClasses: found a list of 1, expected one of them with default: true$/,
    /^10:13: clusters\.maas\.url: missing, expected text$/,
    /^10:13: clusters\.maas\.apiKeyFile: missing, expected text$/,
    /^10:1: clusters\.cni: missing, expected a group of keys$/,
    /^14:1: directPath: removed: .*delete the key$/,
  ]);
});

test("YAML errors have a position too", async (t) => {
  const cases: readonly [text: string, expected: RegExp][] = [
    ["log:\n\tlevel: info\n", /a\.yaml:2:1: Tabs/],
    ["data: [1\nlog: 2", /a\.yaml:2:\d+: /],
    ["data: /a\nlog: { level: info }\ndata: /b\n", /a\.yaml:3:1: duplicate key, already set above/],
    ["data: *x\n", /a\.yaml:1:7: expected an anchor &x/],
    ["data: /a\n---\ndata: /b\n", /a\.yaml:2:1: a second document/],
    ["data: !secret x\n", /a\.yaml:1:7: Unresolved tag/],
    ["- a\n", /a\.yaml:1:1: found a list of 1, expected a group of keys/],
  ];
  const dir = t.testdir();
  for (const [index, [text, expected]] of cases.entries()) {
    const file = join(dir, `${index}a.yaml`);
    await writeFile(file, text);
    t.match(await mistakesOf({ file }), [expected], JSON.stringify(text));
  }
});

test("anchors are allowed, and a mistake in one is shown at its position", async (t) => {
  const dir = t.testdir({
    "a.yaml":
      "cors: { origins: &o [http://a] }\nvolumes: { deviceClasses: [{ name: a, volumeGroup: b, default: true }], protect: *o }\n",
    "b.yaml": "cors: &c\n  origin: []\nlog: *c\n",
  });
  t.same((await configOf({ file: join(dir, "a.yaml") })).volumes?.protect, ["http://a"]);
  t.match(await mistakesOf({ file: join(dir, "b.yaml") }), [
    /b\.yaml:3:1|b\.yaml:2:3: log\.origin/,
    /:2:3: cors\.origin: .*"origins"/,
  ]);
});

test("empty and unreadable files", async (t) => {
  const dir = t.testdir({ "empty.yaml": "# nothing yet\n" });
  t.equal((await configOf({ file: join(dir, "empty.yaml") })).data, "./data");
  t.match(await mistakesOf({ file: join(dir, "absent.yaml") }), [
    /absent\.yaml: cannot be read: there is no such file$/,
  ]);
  await mkdir(join(dir, "dir"));
  t.match(await mistakesOf({ file: join(dir, "dir") }), [/dir: cannot be read: it is a directory$/]);
});

test("mistakes in variables and flags name them", async (t) => {
  const env = {
    HOSTPLANE_LOG_LEVL: "info",
    HOSTPLANE_STOR: "sqlite",
    HOSTPLANE_KEY: "secret",
    HOSTPLANE_ADMIN_PASSWORD: "secret",
    HOSTPLANE_LIMITS_TOOLS: "4.5",
    HOSTPLANE_SHUTDOWN_GRACE_MS: "",
    HOSTPLANE_LAB: "required",
    HOSTPLANE_PORT: "tcp://10.0.0.1:8080",
    HOSTPLANE_SERVICE_HOST: "10.0.0.1",
    HOSTPLANE_PORT_8080_TCP_ADDR: "10.0.0.1",
    PATH: "/bin",
  };
  const set = ["limits.tols=1", "limits=1", "nothing", "__proto__.x=1", "volumes.deviceClasses=[{"];
  t.match(await mistakesOf({ env, flags: { data: "", set } }), [
    /^HOSTPLANE_LOG_LEVL: unknown variable; did you mean "HOSTPLANE_LOG_LEVEL"\?$/,
    /^HOSTPLANE_STOR: unknown variable; did you mean "HOSTPLANE_STORE"\?$/,
    /^--set limits\.tols: unknown key; did you mean "limits\.tools"\?$/,
    /^--set limits: it is a group of keys/,
    /^--set nothing: expected key=value$/,
    /^--set __proto__\.x: unknown key/,
    /^--data: data: found "", /,
    /^HOSTPLANE_LIMITS_TOOLS: limits\.tools: found 4\.5, expected integer/,
    /^--set volumes\.deviceClasses: volumes\.deviceClasses: found "\[\{", expected a list$/,
  ]);
  t.match(await mistakesOf({ env: { HOSTPLANE_PORT: "8080" } }), [/^HOSTPLANE_PORT: unknown variable/]);
});

test("missing keys of a group are reported even without a file", async (t) => {
  const mistakes = await mistakesOf({ env: { HOSTPLANE_VOLUMES_PROTECT: "root" } });
  t.same(mistakes, ["configuration: volumes.deviceClasses: missing, expected a list"]);
});

test("no file, variable or flag makes it throw", async (t) => {
  const sample = `listen: [{ address: "127.0.0.1:0", mode: "0600", tls: { cert: a, key: b } }]
data: &d ./data
log: { level: info, format: json }
limits:
  tools: 4
volumes:
  deviceClasses:
    - { name: ssd, volumeGroup: vg0, default: true, spareGiB: 1 }
  protect: [*d, "swap*"]
  lvm: { command: [lvm] }
`;
  const piece = fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.constantFrom(
      "*d",
      "&d ",
      "\t",
      "\n",
      "- ",
      ": ",
      "{",
      "]",
      "!!map ",
      "__proto__: 1\n",
      "<<: *d\n",
      "? ",
      "null",
      "\0",
      "...\n",
      "---\n",
    ),
  );
  const mutated = fc
    .array(fc.tuple(fc.nat(sample.length), fc.nat(12), piece), { minLength: 1, maxLength: 4 })
    .map((edits) =>
      edits.reduce(
        (text, [at, removed, added]) => text.slice(0, at) + added + text.slice(at + removed),
        sample,
      ),
    );
  const dir = t.testdir();
  const file = join(dir, "fuzz.yaml");
  await fc.assert(
    fc.asyncProperty(mutated, piece, piece, async (text, value, flag) => {
      await writeFile(file, text);
      const env = { HOSTPLANE_VOLUMES_DEVICE_CLASSES: value, [`HOSTPLANE_${flag}`]: value };
      const loaded = await loadConfig({
        file,
        env,
        flags: { set: [flag, `data=${value}`, `limits.tools=${flag}`] },
      });
      return (
        loaded.ok || (loaded.mistakes.length > 0 && loaded.mistakes.every((each) => each.message !== ""))
      );
    }),
    { numRuns: 100 },
  );
  await fc.assert(
    fc.asyncProperty(mutated, async (text) => {
      await writeFile(file, text);
      const loaded = await loadConfig({ file, env: {} });
      return loaded.ok || loaded.mistakes.every(({ where }) => where.startsWith(file));
    }),
    { numRuns: 100 },
  );
});

test("no mistake repeats a possible password", async (t) => {
  const url = "postgres://me:s3cret/word@db/hostplane";
  const texts = [
    `store: ${url}\nlimits: 1`,
    `store: mysql${url.slice(8)}`,
    `store: [${url}]`,
    `stor: ${url}`,
    `store:${url}`,
    `{store:${url}}`,
    `{store:${url}: 1}`,
    `data: /a\nstore:${url}\nlog: {}`,
    `store: "${url}`,
    `store: *${url}`,
    `store: !${url}`,
    `store: &${url}`,
    `store: ${url}\nstore: ${url}`,
    `store: ${url}\n  - a`,
    `data: [${url}]`,
    `log: ${url}`,
    `log: { level: "${url}" }`,
    `limits: { tools: ${url} }`,
    `tracing: { endpoint: "https://me:s3cret@host" }`,
  ];
  const dir = t.testdir();
  const file = join(dir, "secret.yaml");
  for (const text of texts) {
    await writeFile(file, text);
    const mistakes = await mistakesOf({ file });
    t.not(mistakes.length, 0, text);
    t.notMatch(mistakes.join("\n"), "s3cret", text);
  }
  const env = { HOSTPLANE_STORE: `x${url}`, HOSTPLANE_STOR: url, HOSTPLANE_LIMITS_TOOLS: url };
  const set = [`store=${url}`, `stor=${url}`, url, `${url}?a=b`, `limits.tools=${url}`];
  const mistakes = await mistakesOf({ env, flags: { set } });
  t.equal(mistakes.length, 7);
  t.notMatch(mistakes.join("\n"), "s3cret");
  t.match(mistakes.join("\n"), /^--set store: .*HOSTPLANE_STORE$/m);
});

test("where text or a group is allowed, the mistakes are those of the given one", async (t) => {
  const file = join(t.testdir(), "a.yaml");
  await writeFile(
    file,
    [
      "volumes:",
      "  deviceClasses: [{ name: a, volumeGroup: b, default: true }]",
      "  backup:",
      "    allowEndpoints:",
      "      - https://s3.example.org/bucket",
      "      - { url: http://a:9000, proxis: [] }",
      "      - 3",
      "      - {}",
    ].join("\n"),
  );
  t.match(await mistakesOf({ file }), [
    /^.*:5:9: volumes\.backup\.allowEndpoints\[0\]: found "https.*", expected a URL: must have no path/,
    /^.*:6:\d+: volumes\.backup\.allowEndpoints\[1\]\.proxis: unknown key; did you mean "proxies"\?/,
    /^.*:7:9: volumes\.backup\.allowEndpoints\[2\]: found 3, expected the URL of an S3 service, or a group/,
    /^.*:8:\d+: volumes\.backup\.allowEndpoints\[3\]\.url: missing, expected text$/,
  ]);
});

test("a hub has no systems that belong to a host", async (t) => {
  const fleet = "fleet: { hub: {} }\n";
  const dir = t.testdir({
    "hub.yaml": `${fleet}volumes: { deviceClasses: [{ name: a, volumeGroup: b, default: true }] }\npods: { podman: { socket: /run/podman.sock } }\n`,
    "alone.yaml": fleet,
  });
  const mistakes = await mistakesOf({
    file: join(dir, "hub.yaml"),
    env: { HOSTPLANE_HYPERVISORS_MATCH: "bm-*" },
  });
  t.equal(mistakes.length, 3);
  for (const [at, name] of ["volumes", "hypervisors", "pods"].entries()) {
    t.match(
      mistakes[at],
      new RegExp(`${name}: .*expected no ${name}, because this gateway is a hub .*on the hosts`),
    );
  }
  t.match(await configOf({ file: join(dir, "alone.yaml") }), { fleet: { hub: { listen: "0.0.0.0:8443" } } });
});
