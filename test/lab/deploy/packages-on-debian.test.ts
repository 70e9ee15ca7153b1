import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import tap, { type Test, test } from "tap";
import { isLongForm } from "../../long-form.ts";
import { root } from "../../server/cli/run-hostplane.ts";
import { createLabScript } from "../lab-script.ts";
import { type BuiltPackages, buildPackages } from "./built-packages.ts";

const timeout = 2_400_000;
tap.setTimeout(timeout);

const bases = join(homedir(), ".cache/hostplane-lab/base-images");
const skip = isLongForm
  ? false
  : "LONG_FORM=1 installs each package in containers; the short form is packages.test.ts";

/** A version before that of package.json: the previous build, from the same source. */
const previous = "0.0.9";

type Podman = (...args: readonly string[]) => Promise<string>;

/** Runs a script in a running container and returns its stdout; detached, it returns at once. */
type Inside = (script: string, options?: { readonly isDetached: boolean }) => Promise<string>;

/** Calls `check` until it succeeds, and returns its result. */
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

test("each package is installed, upgraded and removed on a bare Debian", { skip, timeout }, async (t) => {
  await promisify(execFile)(join(root, "test/lab/deploy/deploy-base-images.sh"), [bases]);
  const packages = await buildPackages();
  t.teardown(packages.remove);
  const {
    run,
    destroy,
    directory: labDirectory,
  } = await createLabScript("podman", { NETWORK: "host" }, timeout);
  t.teardown(destroy);
  await run("up");
  const podman: Podman = (...args) => run("run", ...args);
  for (const [file, name] of [
    ["debian.tar", "debian:bookworm-slim"],
    ["node.tar", "node:26-bookworm-slim"],
  ] as const) {
    await podman("import", "--quiet", join(bases, file), `localhost/${name}`);
  }
  const directory = await packagesForContainers(packages);
  await podman("build", "--quiet", "--network=host", "--pull=never", "--tag=localhost/machine", directory);
  const begin = async (
    name: string,
    image: string,
    options: readonly string[],
    ...command: readonly string[]
  ): Promise<Inside> => {
    const mounted = `--volume=${directory}:/packages:ro`;
    await podman("run", "--detach", `--name=${name}`, mounted, ...options, image, ...command);
    return (script, { isDetached } = { isDetached: false }) =>
      podman("exec", ...(isDetached ? ["--detach"] : []), name, "bash", "-euc", script);
  };

  await t.test("the Debian package, under systemd", { timeout }, async (t) => {
    const options = ["--user=root", "--systemd=always", "--privileged", "--network=none"];
    await checkDebianPackage(t, await begin("machine", "localhost/machine", options, "/sbin/init"));
  });
  await t.test("the tarball", { timeout }, async (t) => {
    await checkTarball(
      t,
      await begin("tarball", "localhost/machine", ["--network=none"], "sleep", "infinity"),
    );
  });
  await t.test("the image", { timeout }, async (t) => {
    const engine = join(labDirectory, "engine");
    // The lab has the base images, but no registry.
    const script = `#!/bin/sh
export PODMAN_DIR=${labDirectory} PODMAN_NETWORK=host
case $1 in build) shift; set -- build --format=docker --pull=never --network=host "$@" ;; esac
exec ${root}/test/lab/podman/podman.sh run "$@"
`;
    await writeFile(engine, script, { mode: 0o755 });
    const built = await packages.again("--image", engine);
    await checkImage(t, podman, built);
  });
  await t.test("the client", { timeout }, async (t) => {
    const image = "localhost/node:26-bookworm-slim";
    await checkClient(t, await begin("client", image, ["--network=host"], "sleep", "infinity"));
  });
});

/** Creates the directory that containers see as /packages, which is also what their image is built from. */
async function packagesForContainers(packages: BuiltPackages): Promise<string> {
  const directory = join(packages.directory, "packages");
  for (const [name, from] of [
    ["previous", await packages.again("--release", previous)],
    ["current", join(packages.file(/^SHA256SUMS$/), "..")],
  ] as const) {
    await mkdir(join(directory, name), { recursive: true });
    for (const file of await readdir(from)) {
      const kind = /^hostplane_.*\.deb$/.test(file)
        ? "gateway.deb"
        : /^hostplane-(gateway|client)-.*\.tgz$/.exec(file)?.[1];
      if (kind !== undefined) {
        await copyFile(join(from, file), join(directory, name, kind.includes(".") ? kind : `${kind}.tgz`));
      }
    }
  }
  const node = join(root, `node_modules/node-linux-${process.arch}/bin/node`);
  await copyFile(node, join(directory, "node"));
  await chmod(join(directory, "node"), 0o755);
  // What the package depends on is downloaded here, because the machine has no network.
  const containerfile = `FROM localhost/debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends systemd-sysv dbus procps
COPY previous/gateway.deb /tmp/gateway.deb
RUN apt-get install -y --no-install-recommends --download-only /tmp/gateway.deb
`;
  await writeFile(join(directory, "Containerfile"), containerfile);
  return directory;
}

/** The configuration of a gateway whose system is down: it must start nevertheless. */
const configuration = `
cat >/etc/hostplane/hostplane.yaml <<YAML
listen: [{ address: "127.0.0.1:8080" }]
pods: { podman: { socket: /run/podman/podman.sock } }
YAML
chgrp hostplane /etc/hostplane/hostplane.yaml
chmod 640 /etc/hostplane/hostplane.yaml
`;

async function checkDebianPackage(t: Test, inside: Inside): Promise<void> {
  const version = JSON.parse(await readFile(join(root, "package.json"), "utf8")).version;
  await until(() => inside("systemctl is-system-running --wait"));
  const users = "HOSTPLANE_DATA=/var/lib/hostplane hostplane user list";
  const property = async (name: string) => (await inside(`systemctl show -P ${name} hostplane`)).trim();

  t.match(
    await inside("apt-get install -y --no-install-recommends /packages/previous/gateway.deb"),
    /enable --now/,
  );
  t.equal(await inside("hostplane --version"), `${previous}\n`);
  t.equal(await property("ActiveState"), "inactive", "not started without a configuration");
  t.match(await inside("stat -c '%a %U %G' /etc/hostplane; id hostplane"), /^750 root hostplane$/m);
  t.match(await inside("systemd-analyze verify --man=no hostplane.service 2>&1; echo ok"), /^ok\n$/);
  const complete = "source /usr/share/bash-completion/completions/hostplane; complete -p hostplane";
  t.match(await inside(complete), /_hostplane/);

  await inside(`${configuration} hostplane config check --config /etc/hostplane/hostplane.yaml`);
  await inside("systemctl enable --now hostplane");
  t.match(await inside("cat /proc/$(pidof node)/cmdline | tr '\\0' ' '"), /^\/usr\/lib\/hostplane\/node /);
  // systemctl returns when the gateway is ready, so nothing has to wait.
  t.equal(await property("StatusText"), "Serving");
  t.match(await inside(users), /^admin +admin/m);
  await inside(
    "HOSTPLANE_DATA=/var/lib/hostplane hostplane user add alice --role viewer <<< 'a long password'",
  );

  const pid = await property("MainPID");
  await inside("apt-get install -y --no-install-recommends /packages/current/gateway.deb");
  t.equal(await inside("hostplane --version"), `${version}\n`);
  t.equal(await property("ActiveState"), "active");
  t.not(await property("MainPID"), pid, "restarted");
  t.match(await inside("hostplane user list"), /^alice +viewer/m, "the store is kept, the command finds it");

  await inside(
    "systemctl stop hostplane; mkdir -p /run/systemd/system/hostplane.service.d; printf '[Service]\\nWatchdogSec=4\\n' >/run/systemd/system/hostplane.service.d/watchdog.conf; systemctl daemon-reload; systemctl start hostplane",
  );
  await inside("kill -STOP $(systemctl show -P MainPID hostplane)");
  await until(async () => assert.equal(await property("NRestarts"), "1"));
  await until(async () => assert.equal(await property("StatusText"), "Serving"));

  await inside("apt-get remove -y hostplane");
  t.match(
    await inside("! test -e /usr/lib/hostplane && ! test -e /usr/bin/hostplane && ! pidof node; echo gone"),
    /gone/,
  );
  t.equal(await property("LoadState"), "not-found");
  t.match(await inside("ls /etc/hostplane /var/lib/hostplane"), /hostplane\.yaml[\s\S]*hostplane\.db/);
  t.match(await inside("apt-get purge -y hostplane"), /\/var\/lib\/hostplane is kept/);
  t.match(
    await inside("ls /var/cache/hostplane 2>&1 || true; ls /var/lib/hostplane/key"),
    /No such file[\s\S]*key/,
  );
}

/** The steps of docs/how-to/install.md. */
async function checkTarball(t: Test, inside: Inside): Promise<void> {
  const version = JSON.parse(await readFile(join(root, "package.json"), "utf8")).version;
  await inside(
    "apt-get install -y --no-install-recommends libatomic1; install /packages/node /usr/local/bin/node",
  );
  const unpack = (name: string) =>
    `mkdir -p /opt/hostplane && tar -xzf /packages/${name}/gateway.tgz -C /opt/hostplane --strip-components=1`;
  await inside(`${unpack("previous")} && ln -s /opt/hostplane/bin/hostplane.js /usr/local/bin/hostplane`);
  t.equal(await inside("hostplane --version"), `${previous}\n`);
  const serve = () =>
    inside("echo $$ >/tmp/pid; exec hostplane serve --sandbox --data /srv/data >/tmp/log 2>&1", {
      isDetached: true,
    });
  const stop = "kill $(cat /tmp/pid); while kill -0 $(cat /tmp/pid) 2>/dev/null; do sleep 0.1; done";
  const list = "HOSTPLANE_DATA=/srv/data hostplane user list --sandbox";
  await serve();
  await until(async () => assert.match(await inside(list), /^admin/m));
  await inside(
    "HOSTPLANE_DATA=/srv/data hostplane user add alice --sandbox --role viewer <<< 'a long password'",
  );
  await inside(`${stop}; rm -r /opt/hostplane; ${unpack("current")}`);
  t.equal(await inside("hostplane --version"), `${version}\n`);
  await serve();
  await until(async () => assert.match(await inside(list), /^alice/m));
  await inside(`${stop}; rm -r /opt/hostplane /usr/local/bin/hostplane`);
  t.match(
    await inside(
      "find / -xdev -name '*hostplane*' -not -path '/tmp/*' -not -path '/packages*' -not -path '/srv/*'; echo end",
    ),
    /end/,
  );
}

async function checkImage(t: Test, podman: Podman, directory: string): Promise<void> {
  const [file = ""] = (await readdir(directory)).filter((name) => name.endsWith(".tar"));
  t.match(await readFile(join(directory, "SHA256SUMS"), "utf8"), file);
  const [, tag = ""] =
    /(hostplane:[\d.]+)/.exec(await podman("images", "--noheading", "--format={{.Repository}}:{{.Tag}}")) ??
    [];
  await podman("image", "rm", tag);
  await podman("load", "--quiet", "--input", join(directory, file));
  const begin = async (name: string) => {
    const options = ["--network=none", "--volume=data:/var/lib/hostplane"];
    await podman("run", "--detach", "--name", name, ...options, tag, "serve", "--sandbox");
    await until(() => podman("healthcheck", "run", name));
  };
  await begin("first");
  const add = "hostplane user add alice --sandbox --role viewer <<< 'a long password'";
  await podman("exec", "first", "bash", "-euc", add);
  await podman("stop", "--time=30", "first");
  await podman("rm", "first");
  await begin("second");
  t.match(
    await podman("exec", "second", "hostplane", "user", "list", "--sandbox"),
    /^alice/m,
    "the volume is kept",
  );
  await podman("rm", "--force", "--time=30", "second");
  await podman("image", "rm", tag);
  await podman("volume", "rm", "data");
}

async function checkClient(t: Test, inside: Inside): Promise<void> {
  await inside("mkdir /srv/project; cd /srv/project; npm init --yes");
  const print = `node --input-type=module -e '
import { createHostplaneClient } from "hostplane/client";
import { readFileSync } from "node:fs";
console.log(typeof createHostplaneClient, JSON.parse(readFileSync("node_modules/hostplane/package.json")).version);'`;
  const install = (name: string) =>
    inside(`cd /srv/project; npm install --no-audit --no-fund /packages/${name}/client.tgz; ${print}`);
  t.match(await install("previous"), new RegExp(`^function ${previous}$`, "m"));
  t.match(await install("current"), /^function \d+\.\d+\.\d+/m);
  t.notMatch(await install("current"), new RegExp(`^function ${previous}$`, "m"));
  await inside("cd /srv/project; npm uninstall hostplane");
  t.equal(
    await inside("find /srv/project/node_modules -name package.json"),
    "",
    "its dependencies are gone, too",
  );
}
