import type { Command, Help, Option } from "commander";
import { withHostFlags, withTargetFlags } from "./config/config-flags.ts";

/** Options that most commands have; they are described once. */
const commonFlags = [
  "--config",
  "--data",
  "--set",
  "--sandbox",
  "--context",
  "--host",
  "--host-label",
  "--output",
];

const intro = `# Command line

<!-- Written by \`npm run docs\` from the commands themselves. Do not edit. -->

\`hostplane NOUN VERB\` calls a gateway: the one of this host through its admin socket, or a remote one that you have logged in to
with \`hostplane login\`. \`hostplane help NOUN VERB\` prints what this page says about a command.

## Exit codes

| code | meaning |
|---|---|
| 0 | The command succeeded. A reader that closes the pipe early (\`hostplane events \\| head\`) is not a failure. |
| 1 | The call failed or was refused, the operation did not complete, the answer to a question was not yes, or the command found something that needs attention (\`doctor\`, \`status\`). |
| 2 | The command line, the configuration or the request is invalid, or a command that destroys something was not confirmed with \`--yes\`. Nothing was changed. |
| 130, 143 | The command was interrupted by SIGINT or SIGTERM. |
`;

/** Formats all commands as the page docs/reference/command-line.md. */
export function markdownFromProgram(program: Command): string {
  const help = program.createHelp();
  const target = withHostFlags(withTargetFlags(program.createCommand("common")));
  const common = [...target.options, ...(sampleOutputOption(program, help) ?? [])];
  const sections = help
    .visibleCommands(program)
    .filter((each) => each.name() !== "help")
    .map((each) => sectionOf(each, help));
  const options = [
    "## Options of commands that call a gateway",
    "",
    "Without an option or `HOSTPLANE_CONTEXT`, commands use the context chosen by `hostplane context use` or the last login, and without one the gateway of this host.",
    "",
    ...optionTable(common),
  ];
  return [intro, ...options, "", ...sections].join("\n").trimEnd();
}

function sampleOutputOption(program: Command, help: Help): readonly Option[] | undefined {
  const all = help.visibleCommands(program).flatMap((each) => [each, ...each.commands]);
  const found = all.flatMap(({ options }) => options).find(({ long }) => long === "--output");
  return found && [found];
}

function sectionOf(command: Command, help: Help): string {
  const below = help.visibleCommands(command).filter((each) => each.name() !== "help");
  const title = `## hostplane ${command.name()}`;
  const description = capital(command.description());
  return [
    title,
    "",
    `${description}.`,
    "",
    ...(below.length === 0
      ? usageOf(command, help)
      : below.flatMap((each) => [
          `### hostplane ${command.name()} ${each.name()}`,
          "",
          `${capital(each.description())}.`,
          "",
          ...usageOf(each, help),
        ])),
  ].join("\n");
}

function usageOf(command: Command, help: Help): string[] {
  const options = help
    .visibleOptions(command)
    .filter(({ long }) => long !== "--help" && !commonFlags.includes(long ?? ""));
  const rows = [
    ...command.registeredArguments
      .filter(({ description }) => description !== "")
      .map((each) => [`\`${help.argumentTerm(each)}\``, help.argumentDescription(each)]),
    ...options.map((each) => [`\`${each.flags}\``, help.optionDescription(each)]),
  ];
  const usage = ["```text", help.commandUsage(command), "```", ""];
  return rows.length === 0 ? usage : [...usage, ...table(rows), ""];
}

function optionTable(options: readonly Option[]): string[] {
  return table(
    options.map(({ flags, description, argChoices }) => [
      `\`${flags}\``,
      argChoices === undefined ? description : `${description}: ${argChoices.join(", ")}`,
    ]),
  );
}

function table(rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return ["| argument or option | meaning |", "|---|---|", ...rows.map(line)];
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
