import { hasReason } from "../host/infra-error.ts";
import { run } from "../host/process/run.ts";
import type { LibvirtFinding, LibvirtInspection, LibvirtNetwork } from "./adapter.ts";
import type { Platform } from "./domains/platform.ts";
import { readLibvirtVersion } from "./libvirt-version.ts";
import { libvirtReasons } from "./reasons.ts";
import type { LibvirtClient } from "./rpc/client.ts";

export interface InspectLibvirtInput {
  readonly client: LibvirtClient;
  readonly socketPath: string;
  readonly seedTool: readonly string[];
  readonly readPlatform: () => Promise<Platform>;
}

const patienceMs = 5_000;

/** Collects the libvirt findings of `hostplane doctor`. Changes nothing. Never throws. */
export async function inspectLibvirt(input: InspectLibvirtInput): Promise<LibvirtInspection> {
  const { client, socketPath, seedTool } = input;
  let version: string;
  try {
    await client.ready(AbortSignal.timeout(patienceMs));
    version = await readLibvirtVersion(client);
  } catch (error) {
    const findings = [unreachable(socketPath, error), await inspectSeedTool(seedTool)];
    return { version: undefined, findings, networks: undefined };
  }
  return {
    version,
    findings: [
      { ok: true, what: `libvirt ${version} at ${socketPath}` },
      await inspectPermissions(client),
      await inspectPlatform(input),
      await inspectSeedTool(seedTool),
    ],
    networks: await readNetworks(client),
  };
}

function unreachable(socketPath: string, error: unknown): LibvirtFinding {
  const what = `libvirt cannot be reached at ${socketPath}: ${wordsOf(error)}`;
  const isDenied = hasReason(error, libvirtReasons.LIBVIRT_DENIED);
  return {
    ok: false,
    what,
    fix: isDenied
      ? "usermod -aG libvirt <the gateway's user>, and restart the gateway"
      : "apt-get install libvirt-daemon-system and systemctl enable --now libvirtd, or set hypervisors.libvirt.uri to its socket",
  };
}

/**
 * Checks write access. Definitions with their secrets are returned only to clients that may change them, so no change
 * is needed for the check.
 */
async function inspectPermissions(client: LibvirtClient): Promise<LibvirtFinding> {
  try {
    const { domains } = await client.call("connectListAllDomains", { needResults: true, flags: 0 });
    const [domain] = domains;
    if (domain !== undefined) {
      const secure = 1;
      await client.call("domainGetXmlDesc", { domain, flags: secure });
    }
    return { ok: true, what: "the gateway may read and change VMs" };
  } catch (error) {
    return {
      ok: false,
      what: `libvirt does not allow the gateway to manage VMs: ${wordsOf(error)}`,
      fix: "usermod -aG libvirt <the gateway's user>, and restart the gateway",
    };
  }
}

async function readNetworks(client: LibvirtClient): Promise<readonly LibvirtNetwork[] | undefined> {
  try {
    const { networks } = await client.call("connectListAllNetworks", { needResults: true, flags: 0 });
    return await Promise.all(
      networks.map(async (network) => {
        const { active } = await client.call("networkIsActive", { network });
        return { name: network.name, isActive: active };
      }),
    );
  } catch {
    // Networks may be served by another daemon, which need not be running.
    return undefined;
  }
}

async function inspectPlatform({ readPlatform }: InspectLibvirtInput): Promise<LibvirtFinding> {
  try {
    const { type, arch } = await readPlatform();
    return {
      ok: true,
      what:
        type === "kvm"
          ? `guests run with KVM on ${arch}`
          : `guests are emulated on ${arch}, which is slow: libvirt cannot use /dev/kvm; check that virtualization is enabled in the firmware and that kvm_intel or kvm_amd is loaded`,
    };
  } catch (error) {
    return {
      ok: false,
      what: `guests cannot run: ${wordsOf(error)}`,
      fix: "apt-get install qemu-system-x86",
    };
  }
}

async function inspectSeedTool(seedTool: readonly string[]): Promise<LibvirtFinding> {
  const command = seedTool.join(" ");
  const fix = "apt-get install xorriso, or set hypervisors.libvirt.seedTool";
  try {
    const { exitCode } = await run([...seedTool, "-version"], { kind: "read", timeoutMs: patienceMs });
    return exitCode === 0
      ? { ok: true, what: `cloud-init seeds are created with ${command}` }
      : { ok: false, what: `\`${command} -version\` failed with exit code ${exitCode}`, fix };
  } catch (error) {
    return {
      ok: false,
      what: `cloud-init seeds cannot be created with \`${command}\`: ${wordsOf(error)}`,
      fix,
    };
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
