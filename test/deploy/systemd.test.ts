import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { configKeys } from "../../server/gateway/config/keys.ts";
import { configSchema } from "../../server/gateway/config/schema.ts";
import { otherVariables } from "../../server/gateway/config/settings.ts";
import { root, start } from "../server/cli/run-hostplane.ts";

const directory = join(root, "deploy/systemd");
const unit = readFileSync(join(directory, "hostplane.service"), "utf8");
const dropIns = readdirSync(join(directory, "hostplane.service.d"));
const textOf = (dropIn: string) => readFileSync(join(directory, "hostplane.service.d", dropIn), "utf8");
const hasAnalyze = (await start(["sh", "-c", "command -v systemd-analyze"]).ended).code === 0;
const skip =
  hasAnalyze || process.env.HOSTPLANE_LAB === "required" ? false : "systemd-analyze is not installed";

/** Runs systemd-analyze on the unit with one drop-in, as if this clone were installed. */
async function analyze(systemdRoot: string, dropIn: string | undefined, ...args: readonly string[]) {
  const installed = join(systemdRoot, dropIn ?? "none");
  mkdirSync(join(installed, "hostplane.service.d"), { recursive: true });
  writeFileSync(
    join(installed, "hostplane.service"),
    unit.replace("/usr/bin/hostplane", join(root, "bin/hostplane.js")),
  );
  if (dropIn !== undefined) {
    writeFileSync(
      join(installed, "hostplane.service.d", dropIn),
      textOf(dropIn).replaceAll(/^#(?=\w)/gm, ""),
    );
  }
  // The colon at the end appends the default unit path.
  const env = { SYSTEMD_UNIT_PATH: `${installed}:`, SYSTEMD_PAGER: "" };
  return start(["systemd-analyze", ...args, "hostplane.service"], { env }).ended;
}

test("there is a drop-in for each domain, one for the CSI driver, and one for credentials", async (t) => {
  const domains = ["clusters", "hypervisors", "pods", "storage", "volumes"];
  t.same(
    domains.filter((each) => each in configSchema.shape),
    domains,
  );
  t.same(
    dropIns.toSorted(),
    [...domains, "credentials", "csi"].toSorted().map((name) => `${name}.conf`),
  );
});

test("systemd accepts the unit with each drop-in, with its commented settings enabled", {
  skip,
}, async (t) => {
  const installed = t.testdir();
  for (const dropIn of [undefined, ...dropIns]) {
    const { code, stdout, stderr } = await analyze(installed, dropIn, "verify", "--man=no");
    t.same({ code, printed: stdout + stderr }, { code: 0, printed: "" }, dropIn ?? "none");
  }
});

test("the exposure score of systemd stays low", { skip }, async (t) => {
  const installed = t.testdir();
  for (const dropIn of [undefined, ...dropIns]) {
    const tenths = { "volumes.conf": 30, "csi.conf": 40 }[dropIn ?? ""] ?? 20;
    const args = ["security", "--offline=true", `--threshold=${tenths}`];
    const { code, stdout, stderr } = await analyze(installed, dropIn, ...args);
    t.equal(code, 0, `${dropIn}: ${(stdout + stderr).slice(-200)}`);
  }
});

test("every variable that the units set exists", async (t) => {
  const known = new Set([...otherVariables, ...configKeys().flatMap(({ variable }) => variable ?? [])]);
  const named = [unit, ...dropIns.map(textOf)].flatMap((text) => text.match(/\bHOSTPLANE_\w+(?==)/g) ?? []);
  t.ok(named.length > 5);
  t.same(
    named.filter((name) => !known.has(name)),
    [],
  );
});

test("running tools are not killed, and only LVM and mounts have root", async (t) => {
  t.match(unit, /^KillMode=process$/m);
  t.match(unit, /^CapabilityBoundingSet=$/m);
  const withRoot = dropIns.filter((dropIn) => /^(User=root|CapabilityBoundingSet=.+)$/m.test(textOf(dropIn)));
  t.same(withRoot.toSorted(), ["csi.conf", "volumes.conf"]);
});
