import { chmod, mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hasReason, InfraError } from "../../host/infra-error.ts";
import type { ToolEnd } from "../../host/process/tool-result.ts";
import { hostReasons } from "../../host/reasons.ts";
import type { DomainBackup, DomainBackupRequest } from "../backup-adapter.ts";
import { domainOf } from "../domains/domain-steps.ts";
import { about } from "../errors.ts";
import { domainResource } from "../names.ts";
import { libvirtReasons } from "../reasons.ts";
import type { LibvirtClient } from "../rpc/client.ts";
import type { DomainRef } from "../rpc/objects.ts";
import { attributeOf, childOf, parseXml } from "../xml.ts";
import { backupDirectory, backupSocket, isBackupOf } from "./backup-names.ts";
import { readNbd } from "./read-nbd.ts";
import { renderBackup } from "./render-backup.ts";

export interface DomainBackupOptions {
  readonly client: LibvirtClient;
  /** Directory of this host for the sockets, which QEMU must be able to access. */
  readonly directory: string;
  readonly onToolEnd: ((end: ToolEnd) => void) | undefined;
}

/**
 * Begins a backup job of libvirt in pull mode: QEMU exports the frozen disks over NBD on a unix socket, and copies
 * aside what the guest overwrites. In push mode, QEMU writes a full copy by itself, which would need space for all of
 * it.
 */
export function beginBackup(
  options: DomainBackupOptions,
  request: DomainBackupRequest,
  signal: AbortSignal,
): Promise<DomainBackup> {
  return about(domainResource(request.name), begin(options, request, signal));
}

async function begin(
  options: DomainBackupOptions,
  request: DomainBackupRequest,
  signal: AbortSignal,
): Promise<DomainBackup> {
  const { client } = options;
  const { name, token, targets } = request;
  await client.ready(signal);
  await end(options, request);
  const domain = await domainOf(client, request);
  // Otherwise libvirt would wait half a minute for the other one to end.
  if ((await socketOf(client, domain)) !== undefined) {
    throw new InfraError(libvirtReasons.STORAGE_VOLUME_IN_USE, `another client is backing up the VM ${name}`);
  }
  if (!(await client.call("domainIsActive", { domain })).active) {
    throw new InfraError(libvirtReasons.DOMAIN_STATE, `the VM ${name} is not running`);
  }
  const socketPath = backupSocket(options.directory, token);
  try {
    const backupXml = await renderBackup(options, domain, request);
    await makeDirectory(dirname(socketPath));
    const job = { domain, backupXml, checkpointXml: null, flags: 0 } as const;
    signal.throwIfAborted();
    // Not cancelled by the signal: libvirt would start the job anyway, possibly after the cleanup has looked for it.
    await client.call("domainBackupBegin", job);
    signal.throwIfAborted();
    const sizes = targets.map((path) =>
      client.call("domainGetBlockInfo", { domain, path, flags: 0 }, { signal }),
    );
    const figures = await Promise.all(sizes);
    const disks = targets.map((target, at) => ({ target, sizeBytes: figures[at]?.capacity ?? 0n }));
    return {
      disks,
      read: (target, readSignal) => readDisk(options, { domain, token, target }, readSignal),
      end: () => endBackup(options, request),
    };
  } catch (error) {
    await end(options, request).catch(() => {});
    throw error;
  }
}

/** Ends the backup with this token, whichever gateway began it, and removes its files. */
export function endBackup(
  options: DomainBackupOptions,
  request: Pick<DomainBackupRequest, "name" | "uuid" | "token">,
): Promise<void> {
  return about(domainResource(request.name), end(options, request));
}

const endWaitMs = 30_000;
const endAgainMs = 50;

async function end(
  { client, directory }: DomainBackupOptions,
  request: Pick<DomainBackupRequest, "name" | "uuid" | "token">,
): Promise<void> {
  await client.ready();
  const { token } = request;
  const endsAtMs = performance.now() + endWaitMs;
  for (let hasRequested = false; ; ) {
    const domain = await unlessGone(domainOf(client, request));
    const socketPath = domain === undefined ? undefined : await socketOf(client, domain);
    if (domain === undefined || socketPath === undefined || !isBackupOf(token, socketPath)) {
      await rm(backupDirectory(directory, token), { recursive: true, force: true });
      return;
    }
    if (!hasRequested) {
      await abort(client, domain);
      hasRequested = true;
    } else if (performance.now() > endsAtMs) {
      throw new InfraError(
        libvirtReasons.LIBVIRT_FAILED,
        `the backup of the VM ${request.name} does not end`,
      );
    } else {
      // The job ends asynchronously, and its files exist until then.
      await sleep(endAgainMs);
    }
  }
}

async function abort(client: LibvirtClient, domain: DomainRef): Promise<void> {
  try {
    await client.call("domainAbortJob", { domain });
  } catch (error) {
    // `Requested operation is not valid: no job is active on the domain`
    if (!hasReason(error, libvirtReasons.DOMAIN_STATE, libvirtReasons.DOMAIN_NOT_FOUND)) {
      throw error;
    }
  }
}

async function* readDisk(
  { client, onToolEnd, directory }: DomainBackupOptions,
  { domain, token, target }: { readonly domain: DomainRef; readonly token: string; readonly target: string },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  try {
    yield* readNbd({ socketPath: backupSocket(directory, token), exportName: target, onToolEnd }, signal);
  } catch (error) {
    if (!hasReason(error, hostReasons.TOOL_FAILED) || (await isOn(client, domain, token))) {
      throw error;
    }
    const words = `the backup of the VM ${domain.name} ended while its disk ${target} was being read: the VM was stopped, or another client ended the backup`;
    throw new InfraError(libvirtReasons.STORAGE_VOLUME_IN_USE, words, {
      resource: domainResource(domain.name),
      cause: error,
    });
  }
}

/**
 * Reports whether the backup is running. True if libvirt does not answer, so that the reader's own, more useful error
 * is kept.
 */
async function isOn(client: LibvirtClient, domain: DomainRef, token: string): Promise<boolean> {
  try {
    return isBackupOf(token, (await socketOf(client, domain)) ?? "");
  } catch {
    return true;
  }
}

/** VIR_ERR_NO_DOMAIN_BACKUP: `Domain backup job id not found: no domain backup job present`. */
const noBackupCode = "104";

/**
 * Returns the socket of a VM's current backup, whichever client began it; empty if it has no socket, undefined if there
 * is no backup.
 */
async function socketOf(client: LibvirtClient, domain: DomainRef): Promise<string | undefined> {
  try {
    const text = (await client.call("domainBackupGetXmlDesc", { domain, flags: 0 })).xml;
    return attributeOf(childOf(parseXml(text, "domainbackup"), "server"), "socket") ?? "";
  } catch (error) {
    const isNone = error instanceof InfraError && error.metadata.libvirtCode === noBackupCode;
    if (isNone || hasReason(error, libvirtReasons.DOMAIN_NOT_FOUND)) {
      return undefined;
    }
    throw error;
  }
}

async function unlessGone(lookup: Promise<DomainRef>): Promise<DomainRef | undefined> {
  try {
    return await lookup;
  } catch (error) {
    if (hasReason(error, libvirtReasons.DOMAIN_NOT_FOUND)) {
      return undefined;
    }
    throw error;
  }
}

/**
 * Creates the directory of a socket. QEMU runs as another user and creates the socket here; the set-group-ID bit gives
 * the socket our group, so that we may connect and others may not: libvirt runs QEMU with an umask of 002. Others can
 * neither list the directory nor delete in it.
 */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path);
    await chmod(path, 0o3773);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
    throw new InfraError(hostReasons.TOOL_FAILED, `${path} cannot be created (${code})`, { cause });
  }
}
