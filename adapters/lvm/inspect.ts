import { InfraError } from "../host/infra-error.ts";
import { run } from "../host/process/run.ts";
import type { ToolEnd, ToolResult } from "../host/process/tool-result.ts";
import { hostReasons } from "../host/reasons.ts";
import type { Snapshot } from "../host/snapshot.ts";
import type { LvmFinding, LvmInspection, LvmState } from "./adapter.ts";
import { backupConfigurationCommand, parseBackupConfiguration } from "./backup-configuration.ts";
import { type LvmCommandOptions, lvmCommand } from "./commands.ts";

export interface InspectLvmInput {
  readonly options: LvmCommandOptions;
  /** Environment in which lvm runs. */
  readonly env: Readonly<Record<string, string>>;
  readonly read: (argv: readonly string[]) => Promise<ToolResult>;
  readonly readState: () => Promise<Snapshot<LvmState>>;
}

/** Returns LVM's version as printed by `lvm version`, or undefined when that fails. Never throws. */
export async function versionOf(
  options: LvmCommandOptions,
  read: InspectLvmInput["read"],
): Promise<string | undefined> {
  const words = await versionWords(options, read).catch(() => "");
  return versionIn(words);
}

/** Collects the LVM findings of `hostplane doctor`. Runs read-only commands. Never throws. */
export async function inspectLvm(input: InspectLvmInput): Promise<LvmInspection> {
  const { options, read } = input;
  const findings: LvmFinding[] = [];
  const prefix = (options.command ?? ["lvm"]).slice(0, -1);

  let versionText: string;
  try {
    versionText = await versionWords(options, read);
  } catch (error) {
    return { version: undefined, findings: [lvmMissing(options, error)] };
  }
  const version = versionIn(versionText);
  if (version === undefined) {
    return { version, findings: [lvmMissing(options, versionText.trim())] };
  }
  findings.push({ ok: true, what: `lvm ${version}` });

  if (prefix.length > 0) {
    findings.push(await inspectEnvironment(prefix, input), await inspectSignals(prefix, input));
  }
  findings.push(deviceMapperFinding(options, versionText));
  findings.push(await inspectBackup(input), await inspectState(input));
  return { version, findings };
}

async function versionWords(options: LvmCommandOptions, read: InspectLvmInput["read"]): Promise<string> {
  // Without device-mapper it still prints the version and exits with 0.
  const { stdout, stderr } = await read(lvmCommand(options, "version", []));
  return `${stdout}\n${stderr}`;
}

function versionIn(versionText: string): string | undefined {
  return /LVM version:\s+(\S+)/.exec(versionText)?.[1];
}

function lvmMissing(options: LvmCommandOptions, error: unknown): LvmFinding {
  const command = (options.command ?? ["lvm"]).join(" ");
  return {
    ok: false,
    what: `\`${command}\` cannot be run: ${wordsOf(error)}`,
    fix: "apt-get install lvm2, or set volumes.lvm.command",
  };
}

/** Checks that lvm's environment is kept: without it, LVM would read another lvm.conf or print localized messages. */
async function inspectEnvironment(
  prefix: readonly string[],
  { env, read }: InspectLvmInput,
): Promise<LvmFinding> {
  const expected = Object.entries({ ...env, LC_ALL: "C" });
  try {
    const lines = (await read([...prefix, "env"])).stdout.split("\n");
    const lost = expected
      .filter(([name, value]) => !lines.includes(`${name}=${value}`))
      .map(([name]) => name);
    if (lost.length === 0) {
      return { ok: true, what: `\`${prefix.join(" ")}\` passes the environment on` };
    }
    return {
      ok: false,
      what: `\`${prefix.join(" ")}\` does not pass on ${lost.join(", ")}`,
      fix: `add env: ${JSON.stringify([...prefix, "env", ...expected.map((entry) => entry.join("=")), "lvm"])}`,
    };
  } catch (error) {
    return {
      ok: false,
      what: `\`${prefix.join(" ")} env\` cannot be run: ${wordsOf(error)}`,
      fix: "set volumes.lvm.command",
    };
  }
}

/**
 * Checks that lvm can be signalled: a read that hangs on a disk must be stoppable, but sudo runs it as another user.
 */
async function inspectSignals(prefix: readonly string[], { env }: InspectLvmInput): Promise<LvmFinding> {
  let end: ToolEnd | undefined;
  await run([...prefix, "sleep", "30"], {
    kind: "read",
    env,
    timeoutMs: 200,
    onToolEnd: (toolEnd) => {
      end = toolEnd;
    },
  }).catch(() => {});
  const ended =
    end?.failure === hostReasons.TOOL_TIMEOUT.id && (end.exitCode !== null || end.signal === "SIGTERM");
  if (ended) {
    return { ok: true, what: `\`${prefix.join(" ")}\` passes signals on` };
  }
  return {
    ok: false,
    what: `\`${prefix.join(" ")} sleep 30\` did not end on SIGTERM: a hanging lvm cannot be stopped`,
    fix: "use a prefix that replaces itself with lvm (nsenter, env), or run the gateway as root",
  };
}

function deviceMapperFinding({ activation }: LvmCommandOptions, versionText: string): LvmFinding {
  if (activation === "none") {
    return { ok: true, what: "volumes get no block device (volumes.lvm.activation: none)" };
  }
  const driver = /Driver version:\s+(\S+)/.exec(versionText)?.[1];
  if (driver !== undefined) {
    return { ok: true, what: `device-mapper ${driver}` };
  }
  return {
    ok: false,
    what: "device-mapper is not available: volumes cannot be activated",
    fix: "modprobe dm_mod, or set volumes.lvm.activation to none to work on metadata only",
  };
}

async function inspectBackup({ options, read }: InspectLvmInput): Promise<LvmFinding> {
  try {
    const { stdout } = await read(backupConfigurationCommand(options));
    const { enabled, directory } = parseBackupConfiguration(stdout);
    if (enabled) {
      return { ok: true, what: `changes made outside the gateway are detected through ${directory}` };
    }
  } catch (error) {
    return { ok: false, what: `lvmconfig failed: ${wordsOf(error)}`, fix: "see lvmconfig(8)" };
  }
  return {
    ok: false,
    what: "LVM keeps no metadata backups: changes made outside the gateway are detected only every ten minutes",
    fix: "set backup { backup = 1 } in lvm.conf",
  };
}

async function inspectState({ readState }: InspectLvmInput): Promise<LvmFinding> {
  try {
    const { volumeGroups } = (await readState()).value;
    const names = volumeGroups.map(({ name }) => name);
    if (names.length > 0) {
      return { ok: true, what: `volume groups: ${names.join(", ")}` };
    }
    return {
      ok: false,
      what: "LVM shows no volume group",
      fix: "vgcreate NAME DEVICE..., and run the gateway as root",
    };
  } catch (error) {
    return { ok: false, what: `the state cannot be read: ${wordsOf(error)}`, fix: "run the gateway as root" };
  }
}

function wordsOf(error: unknown): string {
  return error instanceof InfraError ? error.message : String(error);
}
