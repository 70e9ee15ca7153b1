import type { Command } from "commander";
import { withTargetFlags } from "../cli/config/config-flags.ts";
import type { ExitCode } from "../cli/table/output.ts";
import type { CommandContext } from "./run-admin-command.ts";

/** Adds `list`, `create` and `destroy` to the command `hypervisor`. */
export function addHypervisorCommands(
  hypervisor: Command,
  context: CommandContext,
  onExit: (code: ExitCode) => void,
): void {
  const commands = () => import("./hypervisor.ts");
  withTargetFlags(hypervisor.command("list"))
    .description("list all hypervisors, running or not")
    .option("--json", "as JSON")
    .action(async (options) => onExit(await (await commands()).listHypervisors(options, context)));
  withTargetFlags(hypervisor.command("create"))
    .description("create hypervisors and report progress; creation continues if this command is interrupted")
    .argument("<ids...>")
    .option("--json", "as JSON lines")
    .action(async (ids, options) =>
      onExit(await (await commands()).createHypervisors(ids, options, context)),
    );
  withTargetFlags(hypervisor.command("destroy"))
    .description(
      "destroy hypervisors and the workloads on them; destruction continues if this command is interrupted",
    )
    .argument("<ids...>")
    .option("--json", "as JSON lines")
    .action(async (ids, options) =>
      onExit(await (await commands()).destroyHypervisors(ids, options, context)),
    );
}
