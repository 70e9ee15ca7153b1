import { constants } from "node:fs";
import { access, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { run } from "../../host/process/run.ts";
import type { LibvirtFinding } from "../adapter.ts";
import type { LibvirtClient } from "../rpc/client.ts";
import { childOf, childrenOf, parseXml, textOf } from "../xml.ts";

export interface InspectBackupsInput {
  readonly client: LibvirtClient;
  readonly socketsDirectory: string;
}

/** Restrictions of QEMU's processes compared with libvirt itself. */
export interface QemuConfinement {
  /** Their user; undefined if that is libvirt's own user. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  /** Whether AppArmor restricts each to the files of its own VM. */
  readonly isByAppArmor: boolean;
}

const patienceMs = 5_000;

/** Checks the requirements of backups of running VMs. Changes nothing. Never throws. */
export async function inspectBackups({
  client,
  socketsDirectory,
}: InspectBackupsInput): Promise<readonly LibvirtFinding[]> {
  const [nbdcopy, { user, isByAppArmor }] = await Promise.all([inspectNbdcopy(), readConfinement(client)]);
  const sockets = await inspectSocketsDirectory(socketsDirectory, user);
  return [nbdcopy, sockets, ...(isByAppArmor ? [await inspectAppArmor()] : [])];
}

async function inspectNbdcopy(): Promise<LibvirtFinding> {
  const fix = "apt-get install libnbd-bin";
  try {
    const { exitCode } = await run(["nbdcopy", "--version"], { kind: "read", timeoutMs: patienceMs });
    return exitCode === 0
      ? { ok: true, what: "disks of running VMs are read with nbdcopy" }
      : { ok: false, what: `\`nbdcopy --version\` failed with exit code ${exitCode}`, fix };
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return { ok: false, what: `disks of running VMs cannot be read: ${words}`, fix };
  }
}

async function readConfinement(client: LibvirtClient): Promise<QemuConfinement> {
  try {
    await client.ready(AbortSignal.timeout(patienceMs));
    return parseConfinement((await client.call("connectGetCapabilities", {})).capabilities);
  } catch {
    // An unreachable libvirt is reported elsewhere.
    return { user: undefined, isByAppArmor: false };
  }
}

/** Parses the result of `virConnectGetCapabilities`. @throws InfraError TOOL_OUTPUT */
export function parseConfinement(text: string): QemuConfinement {
  const models = childrenOf(childOf(parseXml(text, "capabilities"), "host"), "secmodel");
  const named = (name: string) => models.find((model) => textOf(childOf(model, "model")) === name);
  const [, uid, gid] = /^\+?(\d+):\+?(\d+)$/.exec(textOf(childOf(named("dac"), "baselabel"))) ?? [];
  return {
    user: uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) },
    isByAppArmor: named("apparmor") !== undefined,
  };
}

/** Local rules that Debian's profile for all VMs includes. */
const appArmorFile = "/etc/apparmor.d/local/abstractions/libvirt-qemu";
/** The sockets of backups, and the files with overwritten data, wherever they are. */
const appArmorRule = "/**/.hostplane-backup-*{,/nbd} rwk,";

/**
 * Reports whether AppArmor's profile for VMs has a rule for backups. The profile of each VM covers only its disks;
 * libvirt adds neither the sockets that QEMU is asked to create nor, in some versions, the files with overwritten data.
 * Never throws.
 */
export async function inspectAppArmor(file = appArmorFile): Promise<LibvirtFinding> {
  const rules = await readFile(file, "utf8").catch(() => "");
  return rules.split("\n").some((line) => /^\s*[^#\s].*\.hostplane-backup-/.test(line))
    ? { ok: true, what: `AppArmor allows backups of VMs (${file})` }
    : {
        ok: false,
        what: "AppArmor prevents VMs from creating the sockets for their backups",
        fix: `echo '${appArmorRule}' | sudo tee -a ${file} && sudo systemctl reload apparmor`,
      };
}

/** Reports whether the gateway can create directories in it and QEMU's user can access them. Never throws. */
export async function inspectSocketsDirectory(
  directory: string,
  user: QemuConfinement["user"],
): Promise<LibvirtFinding> {
  const fix = `sudo install -d -m 0755 -o "$(id -un)" ${directory}, or set hypervisors.libvirt.socketsDirectory`;
  const missing = (why: string): LibvirtFinding => {
    return { ok: false, what: `the directory ${directory} for backup sockets ${why}`, fix };
  };
  try {
    if (!(await stat(directory)).isDirectory()) {
      return missing("is not a directory");
    }
    await access(directory, constants.W_OK | constants.X_OK);
    const closed = user === undefined ? undefined : await firstClosed(directory, user);
    return closed === undefined
      ? { ok: true, what: `backup sockets are created in ${directory}` }
      : {
          ...missing(`cannot be reached by QEMU's user ${user?.uid}, which may not enter ${closed}`),
          fix: `sudo chmod o+x ${closed}, or set hypervisors.libvirt.socketsDirectory`,
        };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    return missing(code === "ENOENT" ? "does not exist" : `cannot be written (${code})`);
  }
}

/** Returns the first directory of a path, from the root, that a user may not enter according to its mode. */
async function firstClosed(
  directory: string,
  user: NonNullable<QemuConfinement["user"]>,
): Promise<string | undefined> {
  const parent = dirname(directory);
  const above = parent === directory ? undefined : await firstClosed(parent, user);
  if (above !== undefined || user.uid === 0) {
    return above;
  }
  const { uid, gid, mode } = await stat(directory);
  const mayEnter = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
  return (mode & mayEnter) === 0 ? directory : undefined;
}
