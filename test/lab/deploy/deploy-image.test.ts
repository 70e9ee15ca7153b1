import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import tap, { type Test, test } from "tap";
import { root } from "../../server/cli/run-hostplane.ts";
import { createLabScript } from "../lab-script.ts";
import { checkCompose, runCompose } from "./deploy-compose.ts";

const timeout = 2_400_000;
tap.setTimeout(timeout);

const bases = join(homedir(), ".cache/hostplane-lab/base-images");
const skip = process.env.IMAGE_LAB === "1" ? false : "IMAGE_LAB=1 builds two images, which takes ten minutes";
/** Maximum size of the whole image as in `docker images`: megabytes, uncompressed. */
const maxSizeMb = 250;

/** Calls `look` until it succeeds, and returns its result. */
async function until<T>(check: () => Promise<T>, deadlineMs = 60_000): Promise<T> {
  const endMs = performance.now() + deadlineMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > endMs) {
        throw error;
      }
      await sleep(200);
    }
  }
}

test("the image is built from the Dockerfile, and runs", { skip, timeout }, async (t) => {
  await promisify(execFile)(join(import.meta.dirname, "deploy-base-images.sh"), [bases]);
  const { run, destroy, directory } = await createLabScript("podman", { NETWORK: "host" }, timeout);
  t.teardown(destroy);
  await run("up");
  const podman = (...args: readonly string[]) => run("run", ...args);
  for (const [file, name] of [
    ["debian.tar", "debian:bookworm-slim"],
    ["node.tar", "node:26-bookworm-slim"],
  ] as const) {
    await podman("import", "--quiet", join(bases, file), `localhost/${name}`);
  }
  const options = ["--format=docker", "--pull=never", "--network=host"];
  const build = async (tag: string, ...args: readonly string[]) => {
    await podman("build", "--quiet", ...options, `--tag=${tag}`, ...args, root);
  };

  const startedAtMs = performance.now();
  await runCompose(directory, `--podman-build-args=${options.join(" ")}`, "build", "hostplane");
  t.comment(`the build took ${((performance.now() - startedAtMs) / 1000).toFixed(0)} s`);
  await checkSize(t, podman);
  await t.test(
    "docker-compose.yml serves the sandbox, with its password in the log",
    { timeout },
    async (t) => {
      const archive = join(directory, "hostplane.tar");
      await podman("save", "--quiet", `--output=${archive}`, "localhost/hostplane");
      await checkCompose(t, archive);
    },
  );
  await t.test("runs without root, capabilities, network and a writable root", { timeout }, (t) =>
    checkSandbox(t, podman),
  );
  await t.test("refuses to start without a configured system", { timeout }, async (t) => {
    await t.rejects(podman("run", "--rm", "--network=none", "localhost/hostplane"), {
      code: 2,
      stderr: /no system is configured/,
    });
  });
  await t.test("systemd runs the unit with all its hardening", { timeout }, async (t) => {
    await build("localhost/hostplane-systemd", "--build-arg=PACKAGES=systemd-sysv dbus procps");
    await checkUnit(t, podman);
  });
});

type Podman = (...args: readonly string[]) => Promise<string>;

async function checkSize(t: Test, podman: Podman): Promise<void> {
  const sizeMb = async (image: string) =>
    Number(await podman("image", "inspect", "--format={{.Size}}", image)) / 1e6;
  const [whole, debian] = [
    await sizeMb("localhost/hostplane"),
    await sizeMb("localhost/debian:bookworm-slim"),
  ];
  t.comment(`the image has ${whole.toFixed(0)} MB, including Debian's ${debian.toFixed(0)} MB`);
  t.ok(whole <= maxSizeMb, `${whole} MB`);
}

async function checkSandbox(t: Test, podman: Podman): Promise<void> {
  const confined = ["--network=none", "--read-only", "--cap-drop=all", "--security-opt=no-new-privileges"];
  await podman("run", "--detach", "--name=sandbox", ...confined, "localhost/hostplane", "serve", "--sandbox");
  // Uses the image's own health check, because nothing else works without a network.
  await until(() => podman("healthcheck", "run", "sandbox"));
  t.equal((await podman("exec", "sandbox", "id", "-u")).trim(), "1000");
  t.match(await podman("exec", "sandbox", "cat", "/proc/1/status"), /^CapBnd:\s+0+$/m);
  const written = podman("exec", "sandbox", "touch", "/var/x");
  t.match(await written.catch((error: unknown) => error), { stderr: /Read-only file system/ });
  const call = `require("/opt/hostplane/node_modules/koffi").load(null).func("int getpid()")() > 0`;
  t.equal((await podman("exec", "sandbox", "node", "--print", call)).trim(), "true", "native calls work");
  t.match(await podman("exec", "sandbox", "hostplane", "user", "list", "--sandbox"), /^admin +admin/m);
  const query = `const r = await fetch("http://127.0.0.1:8080" + process.argv[1]); console.log(r.status, await r.text())`;
  for (const [path, answer] of [
    ["/", /^200 [\s\S]*<script type="module"/],
    ["/openapi.json", /^200 \{"openapi":"3\.1/],
  ] as const) {
    t.match(await podman("exec", "sandbox", "node", "--input-type=module", "-e", query, path), answer, path);
  }
  await podman("stop", "--time=20", "sandbox");
  t.equal((await podman("inspect", "--format={{.State.ExitCode}}", "sandbox")).trim(), "0");
}

/**
 * Installs the unit as docs/how-to/deploy.md describes in a container with systemd as pid 1, except that the configuration is a sandbox.
 */
async function checkUnit(t: Test, podman: Podman): Promise<void> {
  const machine = [
    "--user=root",
    "--systemd=always",
    "--privileged",
    "--network=none",
    "--entrypoint=/sbin/init",
  ];
  const repository = `--volume=${root}/deploy:/usr/lib/hostplane/deploy:ro`;
  await podman("run", "--detach", "--name=machine", ...machine, repository, "localhost/hostplane-systemd");
  const inside = (command: string) => podman("exec", "machine", "bash", "-euc", command);
  await until(() => inside("systemctl is-system-running --wait"));
  await inside(await readFile(join(import.meta.dirname, "deploy-unit.sh"), "utf8"));
  await until(() => inside("HOSTPLANE_DATA=/var/lib/hostplane node /opt/hostplane/bin/healthcheck.js"));

  const status = await inside("cat /proc/$(systemctl show -P MainPID hostplane)/status");
  t.match(status, /^Seccomp:\s+2$/m, "system calls are filtered");
  t.match(status, /^NoNewPrivs:\s+1$/m);
  t.match(status, /^CapBnd:\s+0+$/m);
  t.notMatch(status, /^Uid:\s+0/m);
  t.match(
    await inside("ls -ld /var/lib/hostplane /etc/hostplane"),
    /drwxr-x--- .* root +hostplane .*\/etc[\s\S]*drwx------ .* hostplane hostplane/,
  );
  t.match(await inside("systemctl show -P ActiveState hostplane"), /^active$/m);

  const kept = await inside("find /var/lib/hostplane -type f");
  t.match(kept, /hostplane\.db$/m);
  t.notMatch(kept, /\/(key|admin-password)$/m, "both are credentials");
  t.match(
    await inside("stat -c '%a %U' /etc/hostplane/key /run/credentials/hostplane.service/key"),
    "600 root\n400 hostplane",
  );
  const login = `import { readFileSync } from "node:fs";
const password = readFileSync("/etc/hostplane/admin-password", "utf8").trim();
const answer = await fetch("http://127.0.0.1:8080/services.auth.AuthService/Login", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ username: "admin", password }),
});
console.log(answer.status);`;
  t.equal((await podman("exec", "machine", "node", "--input-type=module", "-e", login)).trim(), "200");

  await inside("systemctl reload hostplane; systemctl stop hostplane");
  t.match(await inside("systemctl show -P Result -P ExecMainStatus hostplane"), /^success\n0$/m);

  await inside(
    "printf 'volume: 1\\n' > /etc/hostplane/hostplane.yaml; rm /etc/systemd/system/hostplane.service.d/sandbox.conf",
  );
  await inside("systemctl daemon-reload; systemctl start hostplane");
  await until(async () =>
    assert.match(
      await inside("systemctl show -P NRestarts -P ExecMainStatus -P ActiveState hostplane"),
      /^0\n2\nfailed$/m,
    ),
  );
  t.match(await inside("stat -c '%a %G' /run/podman"), /^710 hostplane$/m, "tmpfiles gives the group access");
}
