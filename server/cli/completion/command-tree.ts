import type { Argument, Command, Option } from "commander";
import { completedNoun } from "./completed-names.ts";

/** What may follow at a position of the command line. */
export type Completion =
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "files" }
  | { readonly kind: "directories" }
  /** Names of the resources that this noun's commands take. */
  | { readonly kind: "names"; readonly noun: string }
  /** A free value that cannot be completed. */
  | { readonly kind: "nothing" };

/** A command, as needed for shell completion. */
export interface CommandNode {
  /** Names from the top, without the program's own: `["user", "add"]`. */
  readonly path: readonly string[];
  readonly description: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionNode[];
  /** Completion of its arguments. */
  readonly argument: Completion;
}

export interface OptionNode {
  /** As typed, e.g. `--role` or `-h`. */
  readonly flags: readonly string[];
  readonly description: string;
  /** Completion of its value; undefined when the option takes none. */
  readonly value: Completion | undefined;
}

/** Lists the program and all commands below it. */
export function commandNodes(program: Command): CommandNode[] {
  return nodesBelow(program, []);
}

function nodesBelow(command: Command, path: readonly string[]): CommandNode[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const node: CommandNode = {
    path,
    description: command.description(),
    subcommands: commands.map((each) => ({ name: each.name(), description: each.description() })),
    options: help.visibleOptions(command).map(optionNode),
    argument: mergedArguments(command.registeredArguments),
  };
  // Commander creates the `help` command on each call, without a parent, so its path cannot be read from the command itself.
  return [node, ...commands.flatMap((each) => nodesBelow(each, [...path, each.name()]))];
}

function optionNode(option: Option): OptionNode {
  const { short, long, description, required, optional, argChoices, flags } = option;
  const value =
    required || optional
      ? completionOf(argChoices, /[<[](\w+)/.exec(flags)?.[1], completedNoun(option))
      : undefined;
  return { flags: [long, short].filter((flag) => flag != null), description, value };
}

/** Merges the completions of all arguments: the shell would have to count arguments to know which one it completes. */
function mergedArguments(all: readonly Argument[]): Completion {
  const completions = all.map((each) => completionOf(each.argChoices, each.name(), completedNoun(each)));
  const words = completions.flatMap((each) => (each.kind === "words" ? each.words : []));
  const names = completions.find(({ kind }) => kind === "names");
  return words.length > 0 ? { kind: "words", words } : (names ?? completions[0] ?? { kind: "nothing" });
}

function completionOf(
  choices: readonly string[] | undefined,
  valueName: string | undefined,
  noun: string | undefined,
): Completion {
  if (choices !== undefined) {
    return { kind: "words", words: choices };
  }
  if (noun !== undefined) {
    return { kind: "names", noun };
  }
  if (valueName === "file") {
    return { kind: "files" };
  }
  return { kind: valueName === "dir" ? "directories" : "nothing" };
}
