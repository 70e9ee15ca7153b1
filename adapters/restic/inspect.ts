import { InfraError } from "../host/infra-error.ts";
import { run } from "../host/process/run.ts";
import type { ResticFinding } from "./adapter.ts";
import type { ResticCommandOptions } from "./commands.ts";

/** Collects the restic findings of `hostplane doctor`. Accesses no repository. Never throws. */
export async function inspectRestic(
  options: ResticCommandOptions,
): Promise<{ readonly version: string | undefined; readonly findings: readonly ResticFinding[] }> {
  const { command = ["restic"] } = options;
  try {
    const { stdout, stderr } = await run([...command, "version"], { kind: "read", timeoutMs: 10_000 });
    // restic 0.14.0 compiled with go1.19.8 on linux/amd64
    const version = /^restic (\S+)/m.exec(stdout)?.[1];
    if (version === undefined) {
      return { version, findings: [resticMissing(command, stderr.trim() || stdout.trim())] };
    }
    const findings = [versionFinding(version), ...(await environmentFindings(command.slice(0, -1)))];
    return { version, findings };
  } catch (error) {
    return { version: undefined, findings: [resticMissing(command, wordsOf(error))] };
  }
}

function resticMissing(command: readonly string[], words: string): ResticFinding {
  return {
    ok: false,
    what: `\`${command.join(" ")}\` cannot be run: ${words}`,
    fix: "apt-get install restic, or set restic.command of the backups",
  };
}

function versionFinding(version: string): ResticFinding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 0 || minor >= 14) {
    return { ok: true, what: `restic ${version}` };
  }
  return { ok: false, what: `restic ${version} is older than 0.14`, fix: "install restic 0.14 or newer" };
}

/** Checks that a prefix of restic passes on the secrets, and the mark by which restic is found after a crash. */
async function environmentFindings(prefix: readonly string[]): Promise<ResticFinding[]> {
  if (prefix.length === 0) {
    return [];
  }
  const names = [
    "RESTIC_REPOSITORY",
    "RESTIC_PASSWORD",
    "AWS_ACCESS_KEY_ID",
    "HTTPS_PROXY",
    "HOSTPLANE_STEP",
  ];
  const env = Object.fromEntries(names.map((name) => [name, "hostplane-doctor"]));
  const { stdout } = await run([...prefix, "env"], { kind: "read", env, timeoutMs: 10_000 });
  const lines = stdout.split("\n");
  const lost = names.filter((name) => !lines.includes(`${name}=hostplane-doctor`));
  if (lost.length === 0) {
    return [{ ok: true, what: `\`${prefix.join(" ")}\` passes the environment on` }];
  }
  const what = `\`${prefix.join(" ")}\` does not pass on ${lost.join(", ")}`;
  return [{ ok: false, what, fix: "keep the environment (sudo -E, with SETENV in sudoers)" }];
}

function wordsOf(error: unknown): string {
  return error instanceof InfraError ? error.message : String(error);
}
