import type { Command } from "commander";
import { withTargetFlags } from "./config-flags.ts";
import type { ExitCode } from "./output.ts";
import { parseSize } from "./parse-size.ts";
import type { CommandContext } from "./run-admin-command.ts";

/** Adds `show`, `expand`, `shrink`, `backup` and `watch` to the command `pool`. */
export function addPoolCommands(
  pool: Command,
  context: CommandContext,
  onExit: (code: ExitCode) => void,
): void {
  const commands = () => import("./pool.ts");
  withTargetFlags(pool.command("show"))
    .description("tell the storage pool's figures, its devices and the spare ones")
    .option("--json", "as JSON")
    .action(async (options) => onExit(await (await commands()).showPool(options, context)));
  withChangeFlags(pool.command("expand"))
    .description("add spare devices: the smallest set that gives at least so much")
    .argument("<size>", "such as 500GiB", parseSize)
    .action(async (size, options) => onExit(await (await commands()).expandPool(size, options, context)));
  withChangeFlags(pool.command("shrink"))
    .description("empty devices and take them out: at most so much")
    .argument("<size>", "such as 500GiB", parseSize)
    .action(async (size, options) => onExit(await (await commands()).shrinkPool(size, options, context)));
  withChangeFlags(pool.command("backup"))
    .description("back up every volume, each as it is at one moment")
    .action(async (options) => onExit(await (await commands()).backUpPool(options, context)));
  withTargetFlags(pool.command("watch"))
    .description("tell the storage pool's figures now and after each change")
    .option("--json", "as JSON lines")
    .action(async (options) => onExit(await (await commands()).watchPool(options, context)));
}

function withChangeFlags(command: Command): Command {
  return withTargetFlags(command)
    .option("--wait", "tell how far it is until it has ended; fails unless it completes")
    .option("--json", "as JSON; with --wait as JSON lines");
}
