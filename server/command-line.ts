import { Argument, Command, CommanderError } from "commander";
import { addAdminCommands } from "./commands/admin-commands.ts";
import { completionScript, shells } from "./commands/completion.ts";
import { withGatewayFlags } from "./commands/config-flags.ts";
import type { Inspectors } from "./commands/doctor.ts";
import type { Inspector } from "./domain/inspection.ts";
import { messageFromError, type Output } from "./commands/output.ts";
import { packageVersion } from "./commands/package-version.ts";
import type { Config } from "./gateway/config/schema.ts";

/**
 * Runs a command line.
 * @param args without the program's name
 * @param onExit called with the exit code; a command may leave resources open that would keep the process running
 */
export async function runCommandLine(
  args: readonly string[],
  output: Output,
  onExit: (code: number) => void,
): Promise<void> {
  try {
    await createProgram(output, onExit).parseAsync(args, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) {
      onExit(error.exitCode === 0 ? 0 : 2);
    } else {
      output.err(messageFromError(error));
      onExit(1);
    }
  }
}

/**
 * Creates the command line. Commands are imported when they run, so that help is quick; each returns its exit code, which is
 * passed to `onExit`.
 */
function createProgram(output: Output, onExit: (code: number) => void): Command {
  const version = packageVersion();
  const program = new Command("hostplane")
    .description("One gateway to the machines you own, over Connect, gRPC and gRPC-Web on one port.")
    .version(version)
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({
      outputError: (text) =>
        output.err(
          text
            .trim()
            .replace(/^error: /, "")
            .replaceAll(/\s*\n\s*/g, " "),
        ),
    });

  withGatewayFlags(program.command("serve"))
    .description("serve the configured systems, or a sandbox")
    .option("--sandbox", "serve simulated systems in memory; nothing on this host is touched")
    .action(async (options) =>
      onExit(await (await import("./commands/serve.ts")).serve(options, version, output)),
    );
  withGatewayFlags(program.command("doctor"))
    .description(
      "check the configuration and each configured system; report what is missing and how to fix it",
    )
    .action(async (options) => {
      const { doctor } = await import("./commands/doctor.ts");
      onExit(await doctor(options, createInspectors, output));
    });

  const config = program.command("config").description("show and check the configuration");
  config
    .command("schema")
    .description("list every key with its type, default, variable, flag and description")
    .option("--json", "as a JSON Schema")
    .option("--markdown", "as the page docs/configuration.md")
    .action(async (options) =>
      onExit((await import("./commands/config.ts")).printConfigSchema(options, output)),
    );
  withGatewayFlags(config.command("check"))
    .description("check file, environment and flags; report every mistake with its line")
    .action(async (options) =>
      onExit(await (await import("./commands/config.ts")).checkConfig(options, output)),
    );

  addAdminCommands(program, { output, version }, onExit);
  program
    .command("completion")
    .description("print the shell completion script, e.g. `source <(hostplane completion bash)`")
    .addArgument(new Argument("<shell>").choices(shells))
    .action((shell) => {
      output.out(completionScript(program, shell));
      onExit(0);
    });
  program
    .command("version")
    .description("print the version")
    .action(() => {
      output.out(`hostplane ${version} (node ${process.versions.node})`);
      onExit(0);
    });
  return program;
}

async function createInspectors(config: Config): Promise<Inspectors> {
  const [
    { openRealSystems },
    { createLvmInspector },
    { createRestic },
    { createResticInspector },
    { createLibvirtInspector },
    { createPoolInspector },
    { createCephInspector },
    { createKubernetesInspector },
    { createPoolBackupInspector },
    { createPodmanInspector },
    { createClustersInspector },
    { pino },
  ] = await Promise.all([
    import("./gateway/systems.ts"),
    import("./domains/volumes/inspect-lvm.ts"),
    import("../adapters/restic/restic.ts"),
    import("./backups/inspect-restic.ts"),
    import("./domains/hypervisors/inspect-libvirt.ts"),
    import("./domains/hypervisors/pool/inspect-pool.ts"),
    import("./domains/storage/inspect-ceph.ts"),
    import("./domains/storage/inspect-kubernetes.ts"),
    import("./domains/hypervisors/pool/backups/inspect-pool-backup.ts"),
    import("./domains/pods/inspect-podman.ts"),
    import("./domains/clusters/inspect-clusters.ts"),
    import("pino"),
  ]);
  // Errors in the cluster files are findings of doctor and must not abort it.
  const { clusters, ...others } = config;
  const systems = await openRealSystems(others, pino({ level: "silent" }));
  const { volumes } = config;
  const inspectors: Inspector[] = [];
  if (volumes !== undefined && systems.volumes !== undefined) {
    inspectors.push(createLvmInspector(systems.volumes.lvm, volumes.deviceClasses));
    const { backup } = systems.volumes;
    if (volumes.backup !== undefined && backup !== undefined) {
      inspectors.push(createResticInspector(backup.restic, volumes.backup, config.data, "volumes.backup"));
    }
  }
  if (systems.hypervisors !== undefined) {
    const { libvirt, settings, pool } = systems.hypervisors;
    inspectors.push(createLibvirtInspector(libvirt, settings));
    if (pool !== undefined) {
      inspectors.push(createPoolInspector(pool));
    }
    const poolConfig = config.hypervisors?.pool;
    if (poolConfig?.backup !== undefined) {
      const { backup } = poolConfig;
      const restic = createRestic(backup.restic);
      inspectors.push(
        createPoolBackupInspector(libvirt, poolConfig),
        createResticInspector(restic, backup, config.data, "hypervisors.pool.backup"),
      );
    }
  }
  if (systems.storage?.ceph !== undefined) {
    inspectors.push(createCephInspector(systems.storage.ceph));
  }
  if (systems.storage?.kubernetes !== undefined) {
    inspectors.push(createKubernetesInspector(systems.storage.kubernetes));
  }
  if (systems.pods !== undefined) {
    inspectors.push(createPodmanInspector(systems.pods.runtime));
  }
  if (clusters !== undefined) {
    inspectors.push(createClustersInspector(clusters));
  }
  return { inspectors, close: () => systems.close() };
}
