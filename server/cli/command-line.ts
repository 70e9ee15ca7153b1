import { Argument, Command, CommanderError } from "commander";
import { addAdminCommands } from "../commands/admin-commands.ts";
import { messageFromError } from "../domain/message-from-error.ts";
import { completionScript, shells } from "./completion/completion-script.ts";
import { withGatewayFlags } from "./config/config-flags.ts";
import { packageVersion } from "./package-version.ts";
import type { Output } from "./table/output.ts";

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
      onExit(await (await import("./serve/serve.ts")).serve(options, version, output)),
    );
  withGatewayFlags(program.command("doctor"))
    .description(
      "check the configuration and each configured system; report what is missing and how to fix it",
    )
    .action(async (options) => {
      const { doctor } = await import("./doctor/doctor.ts");
      const { inspectSystems } = await import("../gateway/systems.ts");
      onExit(await doctor(options, inspectSystems, output));
    });

  const config = program.command("config").description("show and check the configuration");
  config
    .command("schema")
    .description("list every key with its type, default, variable, flag and description")
    .option("--json", "as a JSON Schema")
    .option("--markdown", "as the page docs/configuration.md")
    .action(async (options) =>
      onExit((await import("./config/config.ts")).printConfigSchema(options, output)),
    );
  withGatewayFlags(config.command("check"))
    .description("check file, environment and flags; report every mistake with its line")
    .action(async (options) =>
      onExit(await (await import("./config/config.ts")).checkConfig(options, output)),
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
