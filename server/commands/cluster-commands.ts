import type { Command } from "commander";
import { withTargetFlags } from "./config-flags.ts";
import type { ExitCode } from "./output.ts";
import {
  type PoolSize,
  type PoolSpec,
  parseMachinesSpec,
  parsePoolSize,
  parsePoolSpec,
} from "./parse-pool-spec.ts";
import type { CommandContext } from "./run-admin-command.ts";

/**
 * Adds `list`, `show`, `watch`, `machines`, `kubeconfig`, `rotate`, `create`, `delete`, `add-pool`, `delete-pool`, `scale`, `versions`,
 * `upgrade`, `strays`, `adopt` and `release` to the command `cluster`.
 */
export function addClusterCommands(
  cluster: Command,
  context: CommandContext,
  onExit: (code: ExitCode) => void,
): void {
  addReads(cluster, context, onExit);
  addChanges(cluster, context, onExit);
  addStrays(cluster, context, onExit);
}

function addReads(cluster: Command, context: CommandContext, onExit: (code: ExitCode) => void): void {
  const commands = () => import("./cluster.ts");
  withReadFlags(cluster.command("list"))
    .description("list the clusters")
    .action(async (options) => onExit(await (await commands()).listClusters(options, context)));
  withReadFlags(cluster.command("show"))
    .description("tell how a cluster is, with its pools and nodes")
    .argument("<cluster>")
    .action(async (name, options) => onExit(await (await commands()).showCluster(name, options, context)));
  withTargetFlags(cluster.command("watch"))
    .description("tell the clusters now, and each that changes")
    .argument("[clusters...]", "which of them; all if absent")
    .option("--json", "as JSON lines")
    .action(async (names, options) =>
      onExit(await (await commands()).watchClusters(names, options, context)),
    );
  withReadFlags(cluster.command("machines"))
    .description("list the machines of a cluster, also those that are given back")
    .argument("<cluster>")
    .option("--history", "with what has happened to each")
    .action(async (name, options) =>
      onExit(await (await commands()).listClusterMachines(name, options, context)),
    );
  withTargetFlags(cluster.command("kubeconfig"))
    .description("print the kubeconfig of a cluster, which is a credential")
    .argument("<cluster>")
    .action(async (name, options) =>
      onExit(await (await commands()).printKubeconfig(name, options, context)),
    );
  withTargetFlags(cluster.command("rotate"))
    .description("print a kubeconfig with a new certificate; the old one stays good until it expires")
    .argument("<cluster>")
    .action(async (name, options) =>
      onExit(await (await commands()).printKubeconfig(name, { ...options, rotate: true }, context)),
    );
  withReadFlags(cluster.command("versions"))
    .description("list the versions of Kubernetes that a cluster can be upgraded to")
    .argument("<cluster>")
    .action(async (name, options) => onExit(await (await commands()).listUpgrades(name, options, context)));
}

function addChanges(cluster: Command, context: CommandContext, onExit: (code: ExitCode) => void): void {
  const commands = () => import("./change-cluster.ts");
  withChangeFlags(cluster.command("create"))
    .description("make a cluster of machines of MAAS")
    .argument("<cluster>", "up to 40 small letters, digits and hyphens")
    .requiredOption("--k8s-version <version>", "version of Kubernetes, of which MAAS has images, e.g. 1.36.3")
    .option(
      "--control-plane <machines>",
      "<count>[,type][,label=value]...: 1, 3 or 5 machines; one if absent",
      parseMachinesSpec,
      parseMachinesSpec("1"),
    )
    .option(
      "--pool <pool>",
      "<name>=<count>[,type][,label=value]..., e.g. workers=3 or gpus=1,gpu,tier=gold; repeatable",
      collectPool,
    )
    .action(async (name, options) => onExit(await (await commands()).createCluster(name, options, context)));
  withChangeFlags(cluster.command("delete"))
    .description("remove a cluster and give its machines back; what is on their disks is lost")
    .argument("<cluster>")
    .action(async (name, options) => onExit(await (await commands()).deleteCluster(name, options, context)));
  withChangeFlags(cluster.command("add-pool"))
    .description("add pools of machines to a cluster")
    .argument("<cluster>")
    .argument("<pools...>", "<name>=<count>[,type][,label=value]...", collectPool)
    .action(async (name, pools, options) =>
      onExit(await (await commands()).addPools(name, pools, options, context)),
    );
  withChangeFlags(cluster.command("delete-pool"))
    .description("remove pools of a cluster and give their machines back")
    .argument("<cluster>")
    .argument("<pools...>")
    .action(async (name, pools, options) =>
      onExit(await (await commands()).deletePools(name, pools, options, context)),
    );
  withChangeFlags(cluster.command("scale"))
    .description("say how many machines pools of a cluster are to have")
    .argument("<cluster>")
    .argument("<sizes...>", "<pool>=<count>", collectSize)
    .action(async (name, sizes, options) =>
      onExit(await (await commands()).scalePools(name, sizes, options, context)),
    );
  withChangeFlags(cluster.command("upgrade"))
    .description("upgrade a cluster, machine by machine")
    .argument("<cluster>")
    .argument("<version>", "one of those that `versions` lists")
    .action(async (name, version, options) =>
      onExit(await (await commands()).upgradeCluster(name, version, options, context)),
    );
}

function addStrays(cluster: Command, context: CommandContext, onExit: (code: ExitCode) => void): void {
  const changes = () => import("./change-cluster.ts");
  withReadFlags(cluster.command("strays"))
    .description("list the machines that MAAS has given to the gateway and no cluster knows")
    .action(async (options) => onExit(await (await import("./cluster.ts")).listStrays(options, context)));
  withTargetFlags(cluster.command("adopt"))
    .description("take such a machine for one of the cluster that it was made for")
    .argument("<system-id>", "of MAAS")
    .action(async (id, options) => onExit(await (await changes()).adoptStray(id, options, context)));
  withTargetFlags(cluster.command("release"))
    .description("give such a machine back to MAAS; what is on its disks is lost")
    .argument("<system-id>", "of MAAS")
    .action(async (id, options) => onExit(await (await changes()).releaseStray(id, options, context)));
}

function withReadFlags(command: Command): Command {
  return withTargetFlags(command).option("--json", "as JSON");
}

function withChangeFlags(command: Command): Command {
  return withTargetFlags(command).option(
    "--wait",
    "tell how it comes along until the cluster is as wanted; fails if it comes to an error",
  );
}

function collectPool(text: string, before: readonly PoolSpec[] = []): readonly PoolSpec[] {
  return [...before, parsePoolSpec(text)];
}

function collectSize(text: string, before: readonly PoolSize[] = []): readonly PoolSize[] {
  return [...before, parsePoolSize(text)];
}
