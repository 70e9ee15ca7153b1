import { type Command, Option } from "commander";
import { withTargetFlags } from "../cli/config/config-flags.ts";
import { operationStateNames } from "../cli/table/operation-state.ts";
import type { ExitCode } from "../cli/table/output.ts";
import { parseCount } from "../cli/table/parse-count.ts";
import { parseTimeOption } from "../cli/table/parse-time-option.ts";
import type { CommandContext } from "./run-admin-command.ts";

/** Adds `list`, `show`, `watch`, `cancel`, `retry` and `commands` to the command `operation`. */
export function addOperationCommands(
  operation: Command,
  context: CommandContext,
  onExit: (code: ExitCode) => void,
): void {
  const commands = () => import("./operation.ts");
  const states = new Option("--state <state...>", "in one of these states").choices(operationStateNames);
  withTargetFlags(operation.command("list"))
    .description("list operations, newest first")
    .addOption(states)
    .option("--kind <kind>", "only this kind (volumes.backup), or all kinds of a domain (volumes)")
    .option("--resource <resource>", "only this resource or anything below it")
    .option("--actor <actor>", "only this caller, e.g. user/alice")
    .option("--from <time>", "requested at or after this time, e.g. 2026-01-31T00:00:00Z", parseTimeOption)
    .option("--to <time>", "requested before this time", parseTimeOption)
    .option("--limit <number>", "maximum number of operations (default: 100)", parseCount)
    .option("--json", "as JSON")
    .action(async (options) => onExit(await (await commands()).listOperations(options, context)));
  withTargetFlags(operation.command("show"))
    .description("show an operation")
    .argument("<id>")
    .option("--json", "as JSON")
    .action(async (id, options) => onExit(await (await commands()).showOperation(id, options, context)));
  withTargetFlags(operation.command("watch"))
    .description("follow an operation until it ends; fail unless it completes")
    .argument("<id>")
    .option("--json", "as JSON lines")
    .action(async (id, options) => onExit(await (await commands()).watchOperation(id, options, context)));
  withTargetFlags(operation.command("cancel"))
    .description("cancel an operation and undo what it has done")
    .argument("<id>")
    .action(async (id, options) => onExit(await (await commands()).cancelOperation(id, options, context)));
  withTargetFlags(operation.command("retry"))
    .description("resume an operation that has failed or needs attention")
    .argument("<id>")
    .action(async (id, options) => onExit(await (await commands()).retryOperation(id, options, context)));
  withTargetFlags(operation.command("commands"))
    .description("list the commands that an operation has run, oldest first")
    .argument("<id>")
    .option("--json", "as JSON lines")
    .action(async (id, options) => onExit(await (await commands()).listCommands(id, options, context)));
}
