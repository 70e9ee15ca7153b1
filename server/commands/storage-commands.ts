import type { Command } from "commander";
import { withTargetFlags } from "../cli/config/config-flags.ts";
import type { ExitCode } from "../cli/table/output.ts";
import type { CommandContext } from "./run-admin-command.ts";

/** Adds `stats`, `radar`, `pools`, `osds`, `crashes`, `archive-crash`, `nodes`, `resources` and `koor` to the command `storage`. */
export function addStorageCommands(
  storage: Command,
  context: CommandContext,
  onExit: (code: ExitCode) => void,
): void {
  const commands = () => import("./storage.ts");
  withReadFlags(storage.command("stats"))
    .description("show the Ceph cluster's health, daemons, data and traffic")
    .action(async (options) => onExit(await (await commands()).showStats(options, context)));
  withReadFlags(storage.command("radar"))
    .description("show the cluster's five scores from 0 to 100, and how each was computed")
    .action(async (options) => onExit(await (await commands()).showRadar(options, context)));
  withReadFlags(storage.command("pools"))
    .description("list the pools")
    .action(async (options) => onExit(await (await commands()).listPools(options, context)));
  withReadFlags(storage.command("osds"))
    .description("list the OSDs")
    .action(async (options) => onExit(await (await commands()).listOsds(options, context)));
  withReadFlags(storage.command("crashes"))
    .description("list the crashes that daemons have reported, newest first")
    .option("--archived", "include archived crashes")
    .action(async (options) => onExit(await (await commands()).listCrashes(options, context)));
  withReadFlags(storage.command("archive-crash"))
    .description("archive a crash")
    .argument("<id>")
    .action(async (id, options) => onExit(await (await commands()).archiveCrash(id, options, context)));
  withReadFlags(storage.command("nodes"))
    .description("list the nodes of the Ceph cluster")
    .action(async (options) => onExit(await (await commands()).listNodes(options, context)));
  withReadFlags(storage.command("resources"))
    .description("list Rook's resources and Deployments in Kubernetes")
    .action(async (options) => onExit(await (await commands()).listResources(options, context)));
  withReadFlags(storage.command("koor"))
    .description("show the KoorCluster's spec and status")
    .action(async (options) => onExit(await (await commands()).showKoorCluster(options, context)));
}

function withReadFlags(command: Command): Command {
  return withTargetFlags(command).option("--json", "as JSON");
}
