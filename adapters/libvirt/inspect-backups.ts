import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { run } from "../host/run.ts";
import type { LibvirtFinding } from "./adapter.ts";
import type { LibvirtClient } from "./rpc/client.ts";
import { childOf, childrenOf, parseXml, textOf } from "./xml.ts";

export interface InspectBackupsInput {
  readonly client: LibvirtClient;
  readonly socketsDirectory: string;
}

/** Whom the processes of QEMU belong to. */
export interface QemuUser {
  readonly uid: number;
  readonly gid: number;
}

const patienceMs = 5_000;

/** Finds out what backups of running domains lack. Changes nothing. Never throws. */
export async function inspectBackups({
  client,
  socketsDirectory,
}: InspectBackupsInput): Promise<readonly LibvirtFinding[]> {
  const [nbdcopy, user] = await Promise.all([inspectNbdcopy(), qemuUser(client)]);
  return [nbdcopy, await inspectSocketsDirectory(socketsDirectory, user)];
}

async function inspectNbdcopy(): Promise<LibvirtFinding> {
  const fix = "apt-get install libnbd-bin";
  try {
    const { exitCode } = await run(["nbdcopy", "--version"], { kind: "read", timeoutMs: patienceMs });
    return exitCode === 0
      ? { ok: true, what: "disks of running domains are read by nbdcopy" }
      : { ok: false, what: `\`nbdcopy --version\` failed with exit code ${exitCode}`, fix };
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return { ok: false, what: `disks of running domains cannot be read: ${words}`, fix };
  }
}

async function qemuUser(client: LibvirtClient): Promise<QemuUser | undefined> {
  try {
    await client.ready(AbortSignal.timeout(patienceMs));
    return parseQemuUser((await client.call("connectGetCapabilities", {})).capabilities);
  } catch {
    // That libvirt does not answer is told elsewhere.
    return undefined;
  }
}

/**
 * Whom libvirt makes QEMU's processes belong to, of what `virConnectGetCapabilities` returns; undefined where that is
 * libvirt's own user. @throws InfraError TOOL_OUTPUT
 */
export function parseQemuUser(text: string): QemuUser | undefined {
  const models = childrenOf(childOf(parseXml(text, "capabilities"), "host"), "secmodel");
  const dac = models.find((model) => textOf(childOf(model, "model")) === "dac");
  const [, uid, gid] = /^\+?(\d+):\+?(\d+)$/.exec(textOf(childOf(dac, "baselabel"))) ?? [];
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

/** Whether the gateway can make directories in it, and QEMU's user gets into them. Never throws. */
export async function inspectSocketsDirectory(
  directory: string,
  user: QemuUser | undefined,
): Promise<LibvirtFinding> {
  const fix = `sudo install -d -m 0755 -o "$(id -un)" ${directory}, or name another in hypervisors.libvirt.socketsDirectory`;
  const missing = (why: string): LibvirtFinding => {
    return { ok: false, what: `the directory ${directory} for sockets of backups ${why}`, fix };
  };
  try {
    if (!(await stat(directory)).isDirectory()) {
      return missing("is no directory");
    }
    await access(directory, constants.W_OK | constants.X_OK);
    const closed = user === undefined ? undefined : await firstClosed(directory, user);
    return closed === undefined
      ? { ok: true, what: `sockets of backups are made in ${directory}` }
      : {
          ...missing(`cannot be reached by QEMU's user ${user?.uid}, who may not enter ${closed}`),
          fix: `sudo chmod o+x ${closed}, or name another in hypervisors.libvirt.socketsDirectory`,
        };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    return missing(code === "ENOENT" ? "is not there" : `cannot be written (${code})`);
  }
}

/** The first of a path's directories that a user may not enter, from the root on, by their modes. */
async function firstClosed(directory: string, user: QemuUser): Promise<string | undefined> {
  const parent = dirname(directory);
  const above = parent === directory ? undefined : await firstClosed(parent, user);
  if (above !== undefined || user.uid === 0) {
    return above;
  }
  const { uid, gid, mode } = await stat(directory);
  const mayEnter = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
  return (mode & mayEnter) === 0 ? directory : undefined;
}
