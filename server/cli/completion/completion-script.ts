import type { Command } from "commander";
import { type CommandNode, type Completion, commandNodes } from "./command-tree.ts";
import { completeCommand, type Shell } from "./shells.ts";

/**
 * Returns the completion script for a shell. The script contains all commands, so only completing the names of resources starts
 * a process. It never passes what was typed to the shell again, unlike the library @bomb.sh/tab, which evaluates it: completing after `hostplane
 * user $(reboot)` would reboot.
 */
export function completionScript(program: Command, shell: Shell): string {
  const nodes = commandNodes(program);
  const makers = { bash: bashScript, zsh: zshScript, fish: fishScript };
  return makers[shell](program.name(), nodes).join("\n");
}

function bashScript(name: string, nodes: readonly CommandNode[]): string[] {
  const offers = {
    words: (words: string) => `COMPREPLY=($(compgen -W '${words}' -- "$current"))`,
    files: "compopt -o default",
    directories: "compopt -o dirnames",
    names: (noun: string) => `_${name}_names ${noun}`,
  };
  return [
    `# bash completion of ${name}: source <(${name} completion bash)`,
    `_${name}_names() {`,
    "  local name",
    "  while IFS= read -r name; do",
    '    if [[ "$name" == "$current"* ]]; then COMPREPLY+=("$name"); fi',
    `  done < <(${name} ${completeCommand} "$1" "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)`,
    "}",
    `_${name}() {`,
    '  local current="$2" previous="$3" place="" word',
    "  COMPREPLY=()",
    '  for word in "$' + '{COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    ...bodyOf(nodes, offers),
    "}",
    `complete -F _${name} ${name}`,
  ];
}

function zshScript(name: string, nodes: readonly CommandNode[]): string[] {
  const offers = {
    words: (words: string) => `compadd -- ${words}`,
    files: "_files",
    directories: "_files -/",
    names: (noun: string) =>
      `compadd -- "\${(@f)$(${name} ${completeCommand} ${noun} "\${(@)words[2,CURRENT-1]}" 2>/dev/null)}"`,
  };
  return [
    `#compdef ${name}`,
    `# zsh completion of ${name}, after compinit: source <(${name} completion zsh)`,
    `_${name}() {`,
    '  local current="$words[CURRENT]" previous="$words[CURRENT-1]" place="" word',
    '  for word in "$' + '{(@)words[2,CURRENT-1]}"; do',
    ...bodyOf(nodes, offers),
    "}",
    `compdef _${name} ${name}`,
  ];
}

/** How bash or zsh offers completions. */
interface Offers {
  readonly words: (words: string) => string;
  readonly files: string;
  readonly directories: string;
  /** How names of resources are asked for. */
  readonly names: (noun: string) => string;
}

/** Builds the part that bash and zsh share: walk down the commands, then offer a value, options, or commands and arguments. */
function bodyOf(nodes: readonly CommandNode[], offers: Offers): string[] {
  const offer = (completion: Completion) => {
    if (completion.kind === "words") {
      return completion.words.length === 0 ? ":" : offers.words(completion.words.join(" "));
    }
    if (completion.kind === "names") {
      return offers.names(completion.noun);
    }
    return completion.kind === "nothing" ? ":" : offers[completion.kind];
  };
  const places = nodes.filter(({ path }) => path.length > 0).map(({ path }) => placeOf(path));
  const values = nodes.flatMap(({ path, options }) =>
    options.flatMap(({ flags, value }) => {
      const patterns = flags.map((flag) => placeOf([...path, flag])).join("|");
      return value === undefined ? [] : [`    ${patterns}) ${offer(value)}; return ;;`];
    }),
  );
  return [
    '    case "$place $word" in',
    `      ${places.join("|")}) place="$place $word" ;;`,
    "    esac",
    "  done",
    '  case "$place $previous" in',
    ...values,
    "  esac",
    '  case "$place" in',
    ...nodes.flatMap((node) => [
      `    ${placeOf(node.path)})`,
      `      if [[ "$current" == -* ]]; then ${offer({ kind: "words", words: node.options.flatMap(({ flags }) => flags) })}`,
      `      else ${offer(restOf(node))}; fi ;;`,
    ]),
    "  esac",
  ];
}

function fishScript(name: string, nodes: readonly CommandNode[]): string[] {
  const places = nodes.filter(({ path }) => path.length > 0).map(({ path }) => placeOf(path));
  const arguments_ = (completion: Completion) => {
    switch (completion.kind) {
      case "words":
        return `-x -a '${completion.words.join(" ")}'`;
      case "files":
        return "-r -F";
      case "directories":
        return "-x -a '(__fish_complete_directories)'";
      case "names":
        return `-x -a '(${name} ${completeCommand} ${completion.noun} (commandline -opc)[2..-1] 2>/dev/null)'`;
      case "nothing":
        return "-x";
    }
  };
  const lines = nodes.flatMap((node) => {
    const at = `complete -c ${name} -n "__${name}_at ${placeOf(node.path)}"`;
    const options = node.options.map(({ flags, description, value }) => {
      const named = flags.map((flag) =>
        flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
      );
      return [
        at,
        ...named,
        ...(value === undefined ? [] : [arguments_(value)]),
        `-d ${fishText(description)}`,
      ].join(" ");
    });
    const words = node.subcommands.map((each) => `${at} -f -a ${each.name} -d ${fishText(each.description)}`);
    const rest = restOf(node);
    const files = rest.kind === "files" || rest.kind === "directories" ? [`${at} -F`] : [];
    const choices =
      node.subcommands.length === 0 && (rest.kind === "words" || rest.kind === "names")
        ? [`${at} ${arguments_(rest)}`]
        : [];
    return [...options, ...words, ...files, ...choices];
  });
  return [
    `# fish completion of ${name}: ${name} completion fish | source`,
    `function __${name}_at`,
    "  set -l place ''",
    "  set -l typed (commandline -opc)",
    "  for word in $typed[2..-1]",
    '    switch "$place $word"',
    `      case ${places.join(" ")}`,
    '        set place "$place $word"',
    "    end",
    "  end",
    '  test "$place" = "$argv[1]"',
    "end",
    `complete -c ${name} -f`,
    ...lines,
  ];
}

function restOf({ subcommands, argument }: CommandNode): Completion {
  return subcommands.length === 0 ? argument : { kind: "words", words: subcommands.map(({ name }) => name) };
}

/** Returns `' user add'`, or `''` for no words. */
function placeOf(words: readonly string[]): string {
  return `'${words.map((word) => ` ${word}`).join("")}'`;
}

function fishText(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
