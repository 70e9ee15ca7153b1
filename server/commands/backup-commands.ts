import type { Command } from "commander";
import { collect, withTargetFlags } from "../cli/config/config-flags.ts";
import type { ExitCode } from "../cli/table/output.ts";
import { parseCount } from "../cli/table/parse-count.ts";
import type { CommandContext } from "./run-admin-command.ts";

/** Adds `list`, `show`, `create`, `verify`, `restore` and `delete` to the command `backup`. */
export function addBackupCommands(
  backup: Command,
  context: CommandContext,
  onExit: (code: ExitCode) => void,
): void {
  const commands = () => import("./backup.ts");
  withTargetFlags(backup.command("list"))
    .description("list backups, newest first")
    .option(
      "--volume <resource>",
      "only this volume (volumeGroups/vg0/volumes/data) or anything below this resource",
    )
    .option("--name <name>", "only backups with exactly this name")
    .option("--schedule <name>", "only backups created by this schedule")
    .option("--limit <number>", "maximum number of backups (default: 100)", parseCount)
    .option("--json", "as JSON")
    .action(async (options) => onExit(await (await commands()).listBackups(options, context)));
  withTargetFlags(backup.command("show"))
    .description("show a backup")
    .argument("<id>")
    .option("--json", "as JSON")
    .action(async (id, options) => onExit(await (await commands()).showBackup(id, options, context)));
  withBeginFlags(backup.command("create"))
    .description("back up a volume, or show the progress of the backup with this name")
    .argument("<name>", "name of the backup")
    .argument("<volume>", "data, vg0/data or volumeGroups/vg0/volumes/data")
    .option("--endpoint <url>", "S3 endpoint to store it in (default: the local repository)")
    .option("--path <path>", "bucket and prefix on the S3 service")
    .option("--no-verify-tls", "do not verify the endpoint's certificate")
    .action(async (name, volume, options) =>
      onExit(await (await commands()).createBackup(name, volume, options, context)),
    );
  withBeginFlags(backup.command("verify"))
    .description("verify a backup by reading all of it")
    .argument("<id>")
    .action(async (id, options) => onExit(await (await commands()).verifyBackup(id, options, context)));
  withBeginFlags(backup.command("restore"))
    .description("create a new volume from a backup")
    .argument("<id>")
    .argument("<volume>", "name of the new volume")
    .option("--device-class <name>", "device class (default: the configured default class)")
    .option("--size-gib <number>", "size in GiB (default: the backup's size)", parseCount)
    .option("--tag <tag>", "an LVM tag to put on the volume; repeatable", collect)
    .action(async (id, volume, options) =>
      onExit(await (await commands()).restoreBackup(id, volume, options, context)),
    );
  withBeginFlags(backup.command("delete"))
    .description("delete a backup permanently")
    .argument("<id>")
    .action(async (id, options) => onExit(await (await commands()).deleteBackup(id, options, context)));
}

/** Adds the flags of commands that start an operation on a repository. */
function withBeginFlags(command: Command): Command {
  return withTargetFlags(command)
    .option("--wait", "report progress until the operation ends; fail unless it completes")
    .option("--json", "as JSON; with --wait as JSON lines")
    .option(
      "--access <file>",
      "read AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, RESTIC_PASSWORD, HTTP_PROXY and HTTPS_PROXY from this file (lines of NAME=value) instead of the environment",
    )
    .option("--own-key", "the backup is encrypted with RESTIC_PASSWORD, not with a key of the gateway")
    .option("--proxy", "connect to the S3 service through HTTP_PROXY or HTTPS_PROXY");
}
