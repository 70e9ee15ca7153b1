import type { Command } from "commander";
import { withTargetFlags } from "../cli/config/config-flags.ts";
import type { ExitCode } from "../cli/table/output.ts";
import {
  type PoolSize,
  type PoolSpec,
  parseMachinesSpec,
  parsePoolSize,
  parsePoolSpec,
} from "../domains/clusters/parse-pool-spec.ts";
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
    .description("show a cluster with its pools and nodes")
    .argument("<cluster>")
    .action(async (name, options) => onExit(await (await commands()).showCluster(name, options, context)));
  withTargetFlags(cluster.command("watch"))
    .description("print the clusters, then each one that changes")
    .argument("[clusters...]", "clusters to watch (default: all)")
    .option("--json", "as JSON lines")
    .action(async (names, options) =>
      onExit(await (await commands()).watchClusters(names, options, context)),
    );
  withReadFlags(cluster.command("machines"))
    .description("list the machines of a cluster, released ones included")
    .argument("<cluster>")
    .option("--history", "include the history of each machine")
    .action(async (name, options) =>
      onExit(await (await commands()).listClusterMachines(name, options, context)),
    );
  withTargetFlags(cluster.command("kubeconfig"))
    .description("print the kubeconfig of a cluster; it is a credential, keep it secret")
    .argument("<cluster>")
    .action(async (name, options) =>
      onExit(await (await commands()).printKubeconfig(name, options, context)),
    );
  withTargetFlags(cluster.command("rotate"))
    .description("print a kubeconfig with a new certificate; the old one stays valid until it expires")
    .argument("<cluster>")
    .action(async (name, options) =>
      onExit(await (await commands()).printKubeconfig(name, { ...options, rotate: true }, context)),
    );
  withReadFlags(cluster.command("versions"))
    .description("list the Kubernetes versions that a cluster can be upgraded to")
    .argument("<cluster>")
    .action(async (name, options) => onExit(await (await commands()).listUpgrades(name, options, context)));
}

function addChanges(cluster: Command, context: CommandContext, onExit: (code: ExitCode) => void): void {
  const commands = () => import("./change-cluster.ts");
  withChangeFlags(cluster.command("create"))
    .description("create a cluster on MAAS machines")
    .argument("<cluster>", "up to 40 lowercase letters, digits and hyphens")
    .requiredOption(
      "--k8s-version <version>",
      "Kubernetes version, e.g. 1.36.3; MAAS must have an image of it",
    )
    .option(
      "--control-plane <machines>",
      "<count>[,type][,label=value]...: 1, 3 or 5 machines (default: 1)",
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
    .description("delete a cluster and release its machines; data on their disks is lost")
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
    .description("delete pools of a cluster and release their machines")
    .argument("<cluster>")
    .argument("<pools...>")
    .action(async (name, pools, options) =>
      onExit(await (await commands()).deletePools(name, pools, options, context)),
    );
  withChangeFlags(cluster.command("scale"))
    .description("set the number of machines of a cluster's pools")
    .argument("<cluster>")
    .argument("<sizes...>", "<pool>=<count>", collectSize)
    .action(async (name, sizes, options) =>
      onExit(await (await commands()).scalePools(name, sizes, options, context)),
    );
  withChangeFlags(cluster.command("upgrade"))
    .description("upgrade a cluster, machine by machine")
    .argument("<cluster>")
    .argument("<version>", "a version listed by `cluster versions`")
    .action(async (name, version, options) =>
      onExit(await (await commands()).upgradeCluster(name, version, options, context)),
    );
}

function addStrays(cluster: Command, context: CommandContext, onExit: (code: ExitCode) => void): void {
  const changes = () => import("./change-cluster.ts");
  withReadFlags(cluster.command("strays"))
    .description("list stray machines, which are allocated to the gateway but belong to no cluster")
    .action(async (options) => onExit(await (await import("./cluster.ts")).listStrays(options, context)));
  withTargetFlags(cluster.command("adopt"))
    .description("adopt a stray machine into the cluster that it was deployed for")
    .argument("<system-id>", "MAAS system id")
    .action(async (id, options) => onExit(await (await changes()).adoptStray(id, options, context)));
  withTargetFlags(cluster.command("release"))
    .description("release a stray machine to MAAS; data on its disks is lost")
    .argument("<system-id>", "MAAS system id")
    .action(async (id, options) => onExit(await (await changes()).releaseStray(id, options, context)));
}

function withReadFlags(command: Command): Command {
  return withTargetFlags(command).option("--json", "as JSON");
}

function withChangeFlags(command: Command): Command {
  return withTargetFlags(command).option(
    "--wait",
    "report progress until the cluster matches its spec; fail if its status becomes ERROR",
  );
}

function collectPool(text: string, before: readonly PoolSpec[] = []): readonly PoolSpec[] {
  return [...before, parsePoolSpec(text)];
}

function collectSize(text: string, before: readonly PoolSize[] = []): readonly PoolSize[] {
  return [...before, parsePoolSize(text)];
}
