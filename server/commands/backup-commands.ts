import type { Command } from "commander";
import { collect, withTargetFlags } from "./config-flags.ts";
import type { ExitCode } from "./output.ts";
import { parseCount } from "./parse-count.ts";
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
    .option("--volume <resource>", "of this volume (volumeGroups/vg0/volumes/data), or of those below this")
    .option("--name <name>", "of exactly this name")
    .option("--schedule <name>", "made by this schedule")
    .option("--limit <number>", "at most so many; 100 if absent", parseCount)
    .option("--json", "as JSON")
    .action(async (options) => onExit(await (await commands()).listBackups(options, context)));
  withTargetFlags(backup.command("show"))
    .description("tell all that is known of a backup")
    .argument("<id>")
    .option("--json", "as JSON")
    .action(async (id, options) => onExit(await (await commands()).showBackup(id, options, context)));
  withBeginFlags(backup.command("create"))
    .description("back a volume up, or tell how far the backup of this name is")
    .argument("<name>", "what to call the backup")
    .argument("<volume>", "data, vg0/data or volumeGroups/vg0/volumes/data")
    .option("--endpoint <url>", "the S3 service to store it in; the local repository if absent")
    .option("--path <path>", "bucket and prefix in that")
    .option("--no-verify-tls", "take whatever certificate the endpoint shows")
    .action(async (name, volume, options) =>
      onExit(await (await commands()).createBackup(name, volume, options, context)),
    );
  withBeginFlags(backup.command("verify"))
    .description("read a backup to its end, to see that it is whole")
    .argument("<id>")
    .action(async (id, options) => onExit(await (await commands()).verifyBackup(id, options, context)));
  withBeginFlags(backup.command("restore"))
    .description("make a new volume of a backup")
    .argument("<id>")
    .argument("<volume>", "name of the new volume")
    .option("--device-class <name>", "the default class if absent")
    .option("--size-gib <number>", "that of the backup if absent", parseCount)
    .option("--tag <tag>", "an LVM tag to put on the volume; repeatable", collect)
    .action(async (id, volume, options) =>
      onExit(await (await commands()).restoreBackup(id, volume, options, context)),
    );
  withBeginFlags(backup.command("delete"))
    .description("delete a backup for ever")
    .argument("<id>")
    .action(async (id, options) => onExit(await (await commands()).deleteBackup(id, options, context)));
}

/** Adds the flags of commands that start an operation on a repository. */
function withBeginFlags(command: Command): Command {
  return withTargetFlags(command)
    .option("--wait", "tell how far it is until it has ended; fails unless it completes")
    .option("--json", "as JSON; with --wait as JSON lines")
    .option(
      "--access <file>",
      "read AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, RESTIC_PASSWORD, HTTP_PROXY and HTTPS_PROXY from this file of lines NAME=value, instead of the environment",
    )
    .option("--own-key", "it is encrypted with RESTIC_PASSWORD, not with a key of the gateway")
    .option("--proxy", "reach the S3 service by HTTP_PROXY or HTTPS_PROXY");
}
