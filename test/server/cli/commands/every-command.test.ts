import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "tap";
import { nouns } from "../../../../server/domains/commands.ts";
import { methodPathOf } from "../../../../server/rpc/call/method-rule.ts";
import { unplanned } from "../../domains/plan/unplanned.ts";
import { dataWithStore, stop } from "../data-under-test.ts";
import { root } from "../run-hostplane.ts";
import { runInProcess } from "../run-in-process.ts";

interface Sample {
  /** Arguments that make a valid request. */
  readonly args?: readonly string[];
  /** The exit code, and what is printed on stdout, or on stderr unless the code is 0. */
  readonly code?: number;
  readonly prints: RegExp;
}

const dryRun = ["--dry-run"];
const nothing = { code: 1, prints: /not found/ };

/** A call of every command, in order. Ids are those of the sandbox; changes are planned unless they can be made. */
const samples: Readonly<Record<string, Sample>> = {
  // Its container fails after 5 s, and a failed pod is a problem that `status` reports.
  "pod remove": { args: ["sandbox-job", "--force", "--yes", "--wait"], prints: /^completed$/m },
  status: { prints: /^lvm +volumes +sandbox +ok/m },
  get: { args: ["osd", "-o", "name"], prints: /^\S+osds?\/0$/m },
  events: { args: ["--from-cursor", "x"], code: 2, prints: /cursor/ },
  history: { args: ["gateway", "--since", "1h"], prints: /^memory +\d\S+ MiB /m },
  "host list": { code: 1, prints: /is not a hub/ },
  "host token": { args: dryRun, code: 1, prints: /is not a hub/ },
  "host label": { args: ["node-1", "--label", "rack=a", ...dryRun], code: 1, prints: /is not a hub/ },
  "host remove": { args: ["node-1", ...dryRun], code: 1, prints: /is not a hub/ },
  "host join": { args: ["x"], code: 2, prints: /hpj_/ },
  "host leave": { args: ["--yes"], code: 1, prints: /not a member/ },
  "host status": { code: 1, prints: /not/ },
  "operation list": { args: ["--kind", "pods"], prints: /^ID +KIND/ },
  "operation show": { args: ["00000000-0000-4000-8000-000000000000"], ...nothing },
  "operation watch": { args: ["00000000-0000-4000-8000-000000000000"], ...nothing },
  "operation cancel": { args: ["00000000-0000-4000-8000-000000000000"], ...nothing },
  "operation retry": { args: ["00000000-0000-4000-8000-000000000000"], ...nothing },
  "operation commands": { args: ["00000000-0000-4000-8000-000000000000"], ...nothing },
  plan: { args: ["hostplane.v1.StoragePoolService/BackUpStoragePool"], prints: /^plan: storagePool\.backup/ },
  "plan create": {
    args: ["hostplane.v1.StoragePoolService/BackUpStoragePool"],
    prints: /^digest +[\da-f]{64}$/m,
  },
  "plan list": { args: ["-o", "name"], prints: /^[\da-f-]{36}$/m },
  "plan show": { args: ["00000000-0000-4000-8000-000000000000"], code: 1, prints: /does not exist/ },
  "plan apply": { args: ["00000000-0000-4000-8000-000000000000"], code: 1, prints: /does not exist/ },
  approve: { args: ["00000000-0000-4000-8000-000000000000", "--yes"], code: 1, prints: /does not exist/ },
  "plan delete": { args: ["00000000-0000-4000-8000-000000000000"], code: 1, prints: /does not exist/ },
  "volume list": { args: ["-o", "name"], prints: /^sandbox-db\nsandbox-web$/m },
  "volume show": { args: ["sandbox-db"], prints: /^size +5 GiB\n/m },
  "volume pools": { prints: /^NAME +GROUP +CLASSES/ },
  "volume create-pool": {
    args: ["pool0", "sandbox-vg", "--size", "1GiB", ...dryRun],
    prints: /^plan: volumes\.createThinPool/,
  },
  "volume resize-pool": {
    args: ["none", "sandbox-vg", "--size", "1GiB"],
    code: 1,
    prints: /thin pool sandbox-vg\/none not found/,
  },
  "volume remove-pool": {
    args: ["none", "sandbox-vg", "--yes"],
    code: 1,
    prints: /thin pool sandbox-vg\/none not found/,
  },
  "volume classes": { prints: /^sandbox-ssd +16 GiB/m },
  "volume create": {
    args: ["new", "--size", "1GiB", "--tag", "a=b"],
    prints: /^created the volume new: 1 GiB/,
  },
  "volume resize": { args: ["new", "1536MiB"], prints: /^resized the volume new to 1\.5 GiB$/m },
  "volume clone": { args: ["new", "cloned", ...dryRun], prints: /^plan: volumes\.clone/ },
  "volume snapshot": { args: ["new", "copy", "--access-type", "ro", ...dryRun], prints: /copy/ },
  "volume merge": { args: ["new", ...dryRun], code: 1, prints: /not a snapshot/ },
  "volume rename": { args: ["new", "newer", ...dryRun], prints: /renamed to newer/ },
  "volume tag": {
    args: ["new", "--tag", "c", "--tag", "d"],
    prints: /^the volume new has the tags: c, d$/m,
  },
  "volume remove": { args: ["new", "--yes"], prints: /^removed the volume new$/m },
  "backup list": { args: ["--volume", "volumeGroups/sandbox-vg"], prints: /^ID +NAME/ },
  "backup show": { args: ["00000000-0000-4000-8000-000000000000"], ...nothing },
  "backup create": { args: ["nightly", "sandbox-db", ...dryRun], prints: /^plan: volumes\.backup/ },
  "backup verify": { args: ["00000000-0000-4000-8000-000000000000", ...dryRun], ...nothing },
  "backup restore": { args: ["00000000-0000-4000-8000-000000000000", "x", ...dryRun], ...nothing },
  "backup delete": { args: ["00000000-0000-4000-8000-000000000000", ...dryRun], ...nothing },
  "hypervisor list": { prints: /^sandbox-hv-1 +running/m },
  "hypervisor create": { args: ["sandbox-hv-2", ...dryRun], prints: /^plan: hypervisors\.create/ },
  "hypervisor destroy": { args: ["sandbox-hv-1", ...dryRun], prints: /^ {2}LOST: /m },
  "pool show": { prints: /^volume group sandbox-pool: / },
  "pool expand": { args: ["1GiB", ...dryRun], prints: /^plan: storagePool\.expand/ },
  "pool shrink": { args: ["500GiB", ...dryRun], code: 1, prints: /no device/ },
  "pool backup": { args: dryRun, prints: /^plan: storagePool\.backup/ },
  "pod list": { prints: /sandbox-web +running/ },
  "pod show": { args: ["sandbox-web", "-o", "yaml"], prints: /^name: sandbox-web$/m },
  "pod logs": { args: ["sandbox-web", "--lines", "1", "--container", "sandbox-server"], prints: /^20\S+ / },
  "pod start": { args: ["sandbox-new", ...dryRun], prints: /^plan: pods\.start/ },
  "pod stop": { args: ["sandbox-web", "--grace", "1m", ...dryRun], prints: /60/ },
  "pod kill": { args: ["sandbox-web", "--signal", "SIGHUP", ...dryRun], prints: /SIGHUP/ },
  "image list": { prints: /localhost\/sandbox\/app:1/ },
  "image pull": {
    args: ["docker.io/library/busybox:1", ...dryRun],
    prints: /^plan: images?\.pull|^plan: pods/,
  },
  "image remove": { args: ["localhost/sandbox/app:1", ...dryRun], code: 1, prints: /is used by/ },
  "storage stats": { prints: /^health +HEALTH_OK$/m },
  "storage radar": { args: ["-o", "json"], prints: /"clusterHealth": 100/ },
  "storage pools": { args: ["-o", "name"], prints: /^images$/m },
  "storage osds": { prints: /^5 +up, in/m },
  "storage crashes": { args: ["--archived"], prints: /^ID +AT/ },
  "storage archive-crash": { args: ["none", ...dryRun], ...nothing },
  "storage nodes": { prints: /^sandbox-ceph-1 +ready/m },
  "storage resources": { args: ["-o", "name"], prints: /^CephCluster\/rook-ceph\//m },
  "storage koor": { prints: /^upgrades +notify$/m },
  "cluster create": {
    args: ["demo", "--k8s-version", "1.35.4", "--pool", "a=1"],
    prints: /^cluster demo is being created$/m,
  },
  "cluster list": { args: ["demo"], prints: /^demo +PROVISIONING/m },
  "cluster show": { args: ["demo"], prints: /^a +standard +1 /m },
  "cluster machines": { args: ["demo", "--history"], prints: /^POOL +STATE/ },
  "cluster kubeconfig": { args: ["demo"], prints: /^apiVersion: / },
  "cluster rotate": { args: ["demo", ...dryRun], prints: /^plan: / },
  "cluster versions": { args: ["demo", "-o", "json"], prints: /"versions": \[\n/ },
  "cluster add-pool": { args: ["demo", "b=1,standard,x=y", ...dryRun], prints: /^plan: / },
  "cluster delete-pool": { args: ["demo", "a", ...dryRun], prints: /^plan: / },
  "cluster scale": { args: ["demo", "a=2", ...dryRun], prints: /^plan: / },
  "cluster upgrade": { args: ["demo", "1.34.8", ...dryRun], code: 1, prints: /1\.34\.8|demo/ },
  "cluster strays": { args: ["-o", "json"], prints: /^\[\]$/m },
  "cluster adopt": { args: ["sbxyyy", ...dryRun], code: 1, prints: /sbxyyy/ },
  "cluster release": { args: ["sbxyyy", ...dryRun], code: 1, prints: /sbxyyy/ },
  "cluster delete": { args: ["demo", ...dryRun], prints: /^plan: / },
  "user list": { args: ["-o", "name"], prints: /^admin$/m },
  "user add": {
    args: ["bot", "--role", "viewer", "--certificate", "CN=bot"],
    prints: /^added the user bot: viewer$/m,
  },
  "user role": { args: ["bot", "operator", "--services", "proto.LVService"], prints: /^bot is now operator/ },
  "user grant": {
    args: ["bot", "operator resources=volumeGroups/*/volumes/db-*"],
    prints: /^bot is now operator resources=/,
  },
  "access explain": { args: ["bot", "proto.LVService/RemoveLV"], prints: /^ALLOWED +yes$/m },
  "user passwd": { args: ["--help"], prints: /stdin/ },
  "user remove": { args: ["bot", "--yes"], prints: /^removed the user bot$/m },
  "token create": { args: ["t", "--role", "viewer", "--lifetime", "1h"], prints: /^hpt_/ },
  "token list": { prints: /^t +viewer/m },
  "token revoke": { args: ["t", "--yes"], prints: /^revoked the token t$/m },
  "key rotate": { args: dryRun, prints: /^plan: / },
  "audit export": { args: ["--outcome", "OK"], prints: /"rpc":"hostplane\.v1\.UserService\/DeleteUser"/ },
};

test("every command has help, and a call that the sandbox understands", async (t) => {
  const data = await dataWithStore(t);
  const gateway = await data.serve();
  const rows = new Map<string, object>();
  for (const [name, { load }] of Object.entries(nouns)) {
    for (const command of (await load()).commands) {
      rows.set(`${name} ${command.name}`.trim(), command);
    }
  }
  t.strictSame([...rows.keys()].toSorted(), Object.keys(samples).toSorted(), "the table has every command");
  for (const [name, { args = [], code = 0, prints }] of Object.entries(samples)) {
    const path = name.split(" ");
    const help = await runInProcess([...path, "--help"]);
    t.match(help, { code: 0, stderr: "" }, `help of ${name}`);
    t.match(help.stdout, new RegExp(`^Usage: hostplane ${name} `));
    const ended = await data.refused([...path, ...args]);
    t.equal(ended.code, code, `${name}: ${ended.stdout}${ended.stderr}`);
    t.match(code === 0 ? ended.stdout : ended.stderr, prints, name);
  }
  await stop(gateway);
});

test("only commands whose call has a plan offer a dry run", async (t) => {
  for (const [name, { load }] of Object.entries(nouns)) {
    for (const command of (await load()).commands) {
      const { method } = command;
      if (method !== undefined && methodPathOf(method) in unplanned) {
        t.equal(command.isPlannable, false, `${name} ${command.name}`);
      }
    }
  }
});

test("docs/reference/command-line.md has every command", async (t) => {
  const { stdout } = await runInProcess(["reference"]);
  t.equal(
    await readFile(join(root, "docs/reference/command-line.md"), "utf8"),
    stdout,
    "run npm run docs to update it",
  );
});

const hasBash = spawnSync("bash", ["--version"]).status === 0;

test("bash completes names that the gateway has, and is silent without one", {
  skip: !hasBash,
}, async (t) => {
  const data = await dataWithStore(t);
  const gateway = await data.serve();
  const script = join(data.data, "completion.bash");
  await writeFile(script, (await runInProcess(["completion", "bash"])).stdout);
  const complete = (...words: string[]) => {
    const probe = `hostplane() { "${process.execPath}" "${root}/bin/hostplane.js" "$@"; }
source ${script}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_hostplane hostplane "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { PATH: process.env.PATH, HOSTPLANE_DATA: data.data, XDG_CONFIG_HOME: data.data };
    const ended = spawnSync("bash", ["--norc", "-c", probe, "bash", "hostplane", ...words], {
      env,
      encoding: "utf8",
    });
    t.equal(ended.stderr, "");
    return ended.stdout.trim().split("\n");
  };
  // A gateway that does not answer in time counts as away.
  const completeInTime = (...words: string[]) => {
    let names = complete(...words);
    while (names.join() === "") {
      names = complete(...words);
    }
    return names;
  };
  t.same(completeInTime("pod", "stop", "--sandbox", "sandbox-w"), ["sandbox-web"]);
  t.same(completeInTime("volume", "remove", "--sandbox", ""), ["sandbox-db", "sandbox-web"]);
  t.same(completeInTime("user", "remove", "--sandbox", "ad"), ["admin"]);
  t.same(complete("pod", "stop", ""), [""], "no real gateway is running");
  await stop(gateway);
  t.same(complete("pod", "stop", "--sandbox", ""), [""]);
});
