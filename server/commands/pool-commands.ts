import type { Command } from "commander";
import { withTargetFlags } from "../cli/config/config-flags.ts";
import type { ExitCode } from "../cli/table/output.ts";
import { parseSize } from "../cli/table/parse-size.ts";
import type { CommandContext } from "./run-admin-command.ts";

/** Adds `show`, `expand`, `shrink`, `backup` and `watch` to the command `pool`. */
export function addPoolCommands(
  pool: Command,
  context: CommandContext,
  onExit: (code: ExitCode) => void,
): void {
  const commands = () => import("./pool.ts");
  withTargetFlags(pool.command("show"))
    .description("show the storage pool's usage, its devices and spares")
    .option("--json", "as JSON")
    .action(async (options) => onExit(await (await commands()).showPool(options, context)));
  withChangeFlags(pool.command("expand"))
    .description("add spare devices: the smallest set that adds at least this size")
    .argument("<size>", "such as 500GiB", parseSize)
    .action(async (size, options) => onExit(await (await commands()).expandPool(size, options, context)));
  withChangeFlags(pool.command("shrink"))
    .description("empty and remove devices, at most this size in total")
    .argument("<size>", "such as 500GiB", parseSize)
    .action(async (size, options) => onExit(await (await commands()).shrinkPool(size, options, context)));
  withChangeFlags(pool.command("backup"))
    .description("back up every volume; each backup is a point-in-time copy")
    .action(async (options) => onExit(await (await commands()).backUpPool(options, context)));
  withTargetFlags(pool.command("watch"))
    .description("print the storage pool's usage now and after each change")
    .option("--json", "as JSON lines")
    .action(async (options) => onExit(await (await commands()).watchPool(options, context)));
}

function withChangeFlags(command: Command): Command {
  return withTargetFlags(command)
    .option("--wait", "report progress until the operation ends; fail unless it completes")
    .option("--json", "as JSON; with --wait as JSON lines");
}
