import { Argument, Command, CommanderError } from "commander";
import { messageFromError } from "../domain/message-from-error.ts";
import { nouns as domainNouns, type LazyNoun } from "../domains/commands.ts";
import { addCommands, outputOption } from "./add-commands.ts";
import { completeNames, contextNoun } from "./completion/completed-names.ts";
import { completeCommand, shells } from "./completion/shells.ts";
import { collect, withGatewayFlags } from "./config/config-flags.ts";
import { packageVersion } from "./package-version.ts";
import { addStore } from "./store/add-store.ts";
import type { Output } from "./table/output.ts";

type Nouns = Readonly<Record<string, LazyNoun>>;

type OnExit = (code: number) => void;

/**
 * Runs a command line.
 * @param args without the program's name
 * @param onExit called with the exit code; a command may leave resources open that would keep the process running
 */
export async function runCommandLine(
  args: readonly string[],
  output: Output,
  onExit: OnExit,
  nouns: Nouns = domainNouns,
): Promise<void> {
  try {
    const [first, noun = "", ...words] = args;
    if (first === completeCommand) {
      const { printNames } = await import("./completion/print-names.ts");
      onExit(await printNames(noun, nouns, words, output));
      return;
    }
    // Commander's own `help` takes one word only.
    const typed = first === "help" ? [...args.slice(1), "--help"] : args;
    const loaded = typed.slice(0, 1).filter((name) => Object.hasOwn(nouns, name));
    const program = await createProgram(loaded, output, onExit, nouns);
    await program.parseAsync(typed, { from: "user" });
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
 * Creates the command line with the commands of the `loaded` nouns; the others only have their names, so that everything starts
 * fast. Commands are imported when they run; each returns its exit code, which is passed to `onExit`.
 */
async function createProgram(
  loaded: readonly string[],
  output: Output,
  onExit: OnExit,
  nouns: Nouns = domainNouns,
): Promise<Command> {
  const version = packageVersion();
  const program = new Command("hostplane")
    .description("One gateway to the machines you own, over Connect, gRPC and gRPC-Web on one port.")
    .version(version)
    .exitOverride()
    // As for nouns, see `addCommands`.
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: (text) => output.out(text.trimEnd()),
      outputError: (text) =>
        output.err(
          text
            .trim()
            .replace(/^error: /, "")
            .replaceAll(/\s*\n\s*/g, " "),
        ),
    });
  for (const [name, { group, summary, load, isFleetWide = false }] of Object.entries(nouns)) {
    const noun = program.command(name).description(summary).helpGroup(group);
    if (loaded.includes(name)) {
      addCommands(noun, (await load()).commands, { output, version, isFleetWide }, onExit);
    }
  }
  program.commandsGroup("Remote gateways:");
  addContexts(program, output, onExit);
  program.commandsGroup("This host:");
  addServing(program, version, output, onExit);
  addStore(program, version, output, onExit);
  program.commandsGroup("Other:");
  addCompletion(program, nouns, output, onExit);
  program
    .command("reference", { hidden: true })
    .description("print the page docs/reference/command-line.md")
    .action(async () => {
      const { markdownFromProgram } = await import("./command-reference.ts");
      output.out(markdownFromProgram(await createProgram(Object.keys(nouns), output, onExit, nouns)));
      onExit(0);
    });
  program
    .command("version")
    .description("print the version")
    .action(() => {
      output.out(`hostplane ${version} (node ${process.versions.node})`);
      onExit(0);
    });
  const help = program
    .createCommand("help")
    .argument("[command...]")
    .description("display help for a command");
  return program.addHelpCommand(help.helpGroup("Other:"));
}

function addServing(program: Command, version: string, output: Output, onExit: OnExit): void {
  withGatewayFlags(program.command("serve"))
    .description("serve the configured systems, or a sandbox")
    .option("--sandbox", "serve simulated systems in memory; nothing on this host is touched")
    .option("--sandbox-quiet", "a sandbox with a few examples, in which nothing happens by itself")
    .option(
      "--sandbox-seed <number>",
      "seed of the sandbox's demo world; the same seed gives the same one (default: 1)",
    )
    .option(
      "--sandbox-size <key=number>",
      "how much the demo world holds: volumes, vms, pods, osds; separated by commas, repeatable",
      collect,
    )
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
    .option("--markdown", "as the page docs/reference/configuration.md")
    .action(async (options) =>
      onExit((await import("./config/config.ts")).printConfigSchema(options, output)),
    );
  withGatewayFlags(config.command("check"))
    .description("check file, environment and flags; report every mistake with its line")
    .action(async (options) =>
      onExit(await (await import("./config/config.ts")).checkConfig(options, output)),
    );
}

function addContexts(program: Command, output: Output, onExit: OnExit): void {
  program
    .command("login")
    .description("log in to a remote gateway; the commands then use it")
    .argument("<url>", "such as https://gateway.example.org:8080")
    .option("--name <name>", "name of the context (default: the URL's host)")
    .option("--user <name>", "user to log in as (default: prompts for it)")
    .option(
      "--provider <name>",
      "log in by this identity provider, in a browser (default: prompts if there are any)",
    )
    .option("--token", "use an API token: prompts for it, or reads it from stdin")
    .option("--pin <fingerprint>", "accept only the certificate with this fingerprint: sha256:...")
    .option("--insecure", "allow cleartext http to another host")
    .action(async (url, options) =>
      onExit(await (await import("./login/login.ts")).logIn(url, options, output)),
    );
  program
    .command("logout")
    .description("revoke the login of a context, and remove the context")
    .addArgument(completeNames(new Argument("[context]", "default: the current one"), contextNoun))
    .action(async (name) => onExit(await (await import("./login/login.ts")).logOut(name, output)));
  const context = program
    .command("context")
    .description("list and select the gateways that you are logged in to");
  const contexts = () => import("./login/context.ts");
  context
    .command("list")
    .description("list the contexts; the current one is marked")
    .addOption(outputOption())
    .action(async (options) => onExit(await (await contexts()).listContexts(options, output)));
  context
    .command("use")
    .description("use a context in all commands that name none")
    .addArgument(completeNames(new Argument("<context>", "`local` is the gateway of this host"), contextNoun))
    .action(async (name) => onExit(await (await contexts()).useContext(name, output)));
  context
    .command("remove")
    .description("remove a context without revoking its login")
    .addArgument(completeNames(new Argument("<context>"), contextNoun))
    .action(async (name) => onExit(await (await contexts()).removeContext(name, output)));
}

function addCompletion(program: Command, nouns: Nouns, output: Output, onExit: OnExit): void {
  program
    .command("completion")
    .description("print the shell completion script, e.g. `source <(hostplane completion bash)`")
    .addArgument(new Argument("<shell>").choices(shells))
    .action(async (shell) => {
      const { completionScript } = await import("./completion/completion-script.ts");
      output.out(completionScript(await createProgram(Object.keys(nouns), output, onExit, nouns), shell));
      onExit(0);
    });
}
