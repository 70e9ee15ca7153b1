import { chmod, cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { root, runBuildCommand } from "./build-command.ts";
import type { Manifest } from "./manifest.ts";
import { dateFiles } from "./source-date.ts";

/** Debian's names of Node's architectures. */
const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** Node's shared libraries, and the tools that create the user and its directories. */
const dependencies = [
  "libatomic1",
  "libc6 (>= 2.28)",
  "libstdc++6",
  "systemd | systemd-standalone-sysusers",
  "systemd | systemd-standalone-tmpfiles",
];

/** Tools that single domains need, see docs/how-to/deploy.md. */
const suggested = ["librados2", "libvirt-daemon-system", "lvm2", "podman", "restic", "xorriso"];

/** Where shells look for completions. */
const completions = {
  bash: "usr/share/bash-completion/completions/hostplane",
  zsh: "usr/share/zsh/vendor-completions/_hostplane",
  fish: "usr/share/fish/vendor_completions.d/hostplane.fish",
} as const;

/**
 * Builds the Debian package for this architecture: the gateway with its own Node in /usr/lib/hostplane, the command, the unit,
 * sysusers, tmpfiles and completions. Returns the name of the file in `out`.
 * @param options.gateway directory with the files of an installed gateway; its Node is that of package-lock.json
 * @throws Error if that Node is not installed, or dpkg-deb fails
 */
export async function buildDebianPackage(options: {
  readonly directory: string;
  readonly gateway: string;
  readonly out: string;
  readonly manifest: Manifest;
  readonly builtAt: Date;
}): Promise<string> {
  const { directory, gateway, out, manifest, builtAt } = options;
  const architecture = architectures[process.arch];
  if (process.platform !== "linux" || architecture === undefined) {
    throw new Error(`there is no Debian package for ${process.platform} on ${process.arch}`);
  }
  const installed = join(directory, "usr/lib/hostplane");
  await mkdir(dirname(installed), { recursive: true });
  await cp(gateway, installed, { recursive: true });
  await dropOtherBinaries(join(installed, "node_modules/@koromix"));
  const node = dirname(
    createRequire(join(root, "package.json")).resolve(`node-linux-${process.arch}/package.json`),
  );
  await cp(join(node, "bin/node"), join(installed, "node"));
  await cp(join(node, "LICENSE"), join(installed, "licenses/node/LICENSE"));
  await installDeployFiles(directory);
  await writeCommand(join(directory, "usr/bin/hostplane"));
  await writeCompletions(directory, join(installed, "bin/hostplane.js"));
  await writeCopyright(join(directory, "usr/share/doc/hostplane/copyright"));
  await setModes(directory);
  await writeControl(directory, { manifest, architecture });
  await dateFiles(directory, builtAt);
  const file = `hostplane_${debianVersion(manifest.version)}_${architecture}.deb`;
  // zstd: xz needs a minute for a tenth less.
  await runBuildCommand(["dpkg-deb", "--root-owner-group", "-Zzstd", "--build", directory, join(out, file)], {
    env: { SOURCE_DATE_EPOCH: String(builtAt.getTime() / 1000) },
  });
  return file;
}

/** `1.0.0-rc.1` comes before `1.0.0`, which Debian writes with a tilde. */
function debianVersion(version: string): string {
  return version.replace("-", "~");
}

async function dropOtherBinaries(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (name !== `koffi-linux-${process.arch}`) {
      await rm(join(directory, name), { recursive: true });
    }
  }
}

async function installDeployFiles(directory: string): Promise<void> {
  const deploy = join(root, "deploy");
  for (const [from, to] of [
    ["systemd/hostplane.service", "usr/lib/systemd/system/hostplane.service"],
    ["sysusers.d/hostplane.conf", "usr/lib/sysusers.d/hostplane.conf"],
    ["tmpfiles.d/hostplane.conf", "usr/lib/tmpfiles.d/hostplane.conf"],
  ] as const) {
    await mkdir(dirname(join(directory, to)), { recursive: true });
    await cp(join(deploy, from), join(directory, to));
  }
}

async function writeCommand(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await cp(join(root, "packaging/debian-command.sh"), file);
}

async function writeCompletions(directory: string, launcher: string): Promise<void> {
  for (const [shell, path] of Object.entries(completions)) {
    const file = join(directory, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, await runBuildCommand([process.execPath, launcher, "completion", shell]));
  }
}

/** Debian's machine-readable copyright file. The texts of the bundled packages are in /usr/lib/hostplane/licenses. */
async function writeCopyright(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const text = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: hostplane
Comment: The bundled packages, Node among them, have their licenses in /usr/lib/hostplane/licenses.

Files: *
Copyright: the authors of hostplane
License: Apache-2.0
 See /usr/share/common-licenses/Apache-2.0.
`;
  await writeFile(file, text);
}

async function writeControl(
  directory: string,
  { manifest, architecture }: { readonly manifest: Manifest; readonly architecture: string },
): Promise<void> {
  const control = `Package: hostplane
Version: ${debianVersion(manifest.version)}
Architecture: ${architecture}
Maintainer: the authors of hostplane <hostplane@localhost>
Installed-Size: ${await sizeKib(directory)}
Depends: ${dependencies.join(", ")}
Suggests: ${suggested.join(", ")}
Section: admin
Priority: optional
Description: gateway to the machines you own
 ${manifest.description}.
`;
  await mkdir(join(directory, "DEBIAN"));
  await writeFile(join(directory, "DEBIAN/control"), control);
  for (const script of await readdir(join(root, "packaging/debian"))) {
    const file = join(directory, "DEBIAN", script);
    await writeFile(file, await readFile(join(root, "packaging/debian", script)));
    await chmod(file, 0o755);
  }
}

/** The modes must not depend on the umask of the build. */
async function setModes(directory: string): Promise<void> {
  const programs = new Set([
    "usr/bin/hostplane",
    "usr/lib/hostplane/node",
    "usr/lib/hostplane/bin/hostplane.js",
  ]);
  for (const entry of await readdir(directory, { recursive: true })) {
    const file = join(directory, entry);
    const isDirectory = (await stat(file)).isDirectory();
    await chmod(file, isDirectory || programs.has(entry) || entry.endsWith(".sh") ? 0o755 : 0o644);
  }
  await chmod(directory, 0o755);
}

/** Debian counts the bytes of files rounded up to KiB, and one KiB for a directory. */
async function sizeKib(directory: string): Promise<number> {
  let kib = 0;
  for (const entry of await readdir(directory, { recursive: true })) {
    const stats = await stat(join(directory, entry));
    kib += stats.isDirectory() ? 1 : Math.ceil(stats.size / 1024);
  }
  return kib;
}
