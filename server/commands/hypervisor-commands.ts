import type { Command } from "commander";
import { withTargetFlags } from "./config-flags.ts";
import type { ExitCode } from "./output.ts";
import type { CommandContext } from "./run-admin-command.ts";

/** Adds `list`, `create` and `destroy` to the command `hypervisor`. */
export function addHypervisorCommands(
  hypervisor: Command,
  context: CommandContext,
  onExit: (code: ExitCode) => void,
): void {
  const commands = () => import("./hypervisor.ts");
  withTargetFlags(hypervisor.command("list"))
    .description("list hypervisors, whether they run or not")
    .option("--json", "as JSON")
    .action(async (options) => onExit(await (await commands()).listHypervisors(options, context)));
  withTargetFlags(hypervisor.command("create"))
    .description("bring hypervisors up, and tell how far that is; it goes on when this is stopped")
    .argument("<ids...>")
    .option("--json", "as JSON lines")
    .action(async (ids, options) =>
      onExit(await (await commands()).createHypervisors(ids, options, context)),
    );
  withTargetFlags(hypervisor.command("destroy"))
    .description("take hypervisors down, with whatever runs on them; it goes on when this is stopped")
    .argument("<ids...>")
    .option("--json", "as JSON lines")
    .action(async (ids, options) =>
      onExit(await (await commands()).destroyHypervisors(ids, options, context)),
    );
}
