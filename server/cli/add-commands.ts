import { Argument, type Command, Option } from "commander";
import { completeNames } from "./completion/completed-names.ts";
import { withHostFlags, withTargetFlags } from "./config/config-flags.ts";
import type { EngineOptions } from "./engine-options.ts";
import { canWait } from "./render.ts";
import type { Command as Row } from "./table/command.ts";
import { isRead } from "./table/is-read.ts";
import type { ExitCode } from "./table/output.ts";
import type { Parameter, Parameters, Values } from "./table/parameter.ts";
import { formats } from "./table/printer.ts";
import type { CommandContext } from "./target/with-session.ts";

/**
 * Adds the commands of a noun to the command of that name. A row without a name becomes the noun's own action. Each passes its
 * exit code to `onExit`.
 */
export function addCommands(
  noun: Command,
  rows: readonly Row[],
  context: CommandContext & { readonly isFleetWide: boolean },
  onExit: (code: ExitCode) => void,
): void {
  // Otherwise a noun that is a command itself takes the options of the commands below it.
  noun.enablePositionalOptions();
  for (const row of rows) {
    const command = row.name === "" ? noun : noun.command(row.name);
    addParameters(command.description(row.summary), row.parameters);
    addEngineOptions(command, row, !context.isFleetWide);
    withTargetFlags(command);
    if (!context.isFleetWide) {
      withHostFlags(command);
    }
    command.action(async (...args: unknown[]) => {
      const options = command.opts() as EngineOptions & Readonly<Record<string, unknown>>;
      const values = valuesFrom(row.parameters, args, options);
      const { runCommand } = await import("./run-command.ts");
      onExit(await runCommand(row, values, options, context));
    });
  }
}

function addParameters(command: Command, parameters: Parameters): void {
  for (const [key, parameter] of Object.entries(parameters)) {
    if (parameter.kind === "argument") {
      command.addArgument(argumentFrom(key, parameter));
    } else {
      command.addOption(optionFrom(key, parameter));
    }
  }
}

function argumentFrom(key: string, { help, type, isRequired, isList }: Parameter<unknown>): Argument {
  const name = isFile(type) ? type.placeholder : kebab(key);
  const dotted = isList ? `${name}...` : name;
  const argument = new Argument(isRequired ? `<${dotted}>` : `[${dotted}]`, help);
  return withParser(
    type.choices === undefined ? argument : argument.choices([...type.choices]),
    type,
    isList,
  );
}

function optionFrom(key: string, parameter: Parameter<unknown>): Option {
  const { kind, help, type, isRequired, isList, short, conflicts } = parameter;
  const start = short === undefined ? "" : `-${short}, `;
  const value = kind === "flag" ? "" : ` <${type.placeholder}>`;
  const option = new Option(`${start}--${kebab(key)}${value}`, help).makeOptionMandatory(isRequired);
  if (conflicts !== undefined) {
    option.conflicts(conflicts);
  }
  if (kind === "flag") {
    return option;
  }
  return withParser(type.choices === undefined ? option : option.choices([...type.choices]), type, isList);
}

/** Sets the parser after the choices, which would replace it. */
function withParser<Of extends Argument | Option>(
  target: Of,
  type: Parameter<unknown>["type"],
  isList: boolean,
): Of {
  if (type.reference !== undefined) {
    completeNames(target, type.reference.noun);
  }
  target.argParser((text: string, before: unknown) => {
    const value = type.parse(text);
    return isList ? [...(Array.isArray(before) ? before : []), value] : value;
  });
  return target;
}

function addEngineOptions(command: Command, row: Row, hasHosts: boolean): void {
  const { method, isPlannable, destroys, watch } = row;
  const isChange = method !== undefined && !isRead(method);
  command.addOption(outputOption());
  if (watch !== undefined) {
    command.option("-w, --watch", "print the current state, then each change, until interrupted");
  }
  if (canWait(row)) {
    command.option("--wait", "report progress until the end; fail unless it completes");
  }
  if (isChange && isPlannable) {
    command.option("--dry-run", "print what would change or be lost, and the commands; change nothing");
  }
  if (destroys) {
    command.option("-y, --yes", "do not ask for confirmation");
  } else if (isChange && hasHosts) {
    command.option("-y, --yes", "with --host-label: do not ask for confirmation");
  }
}

/** Creates the option `-o`. */
export function outputOption(): Option {
  return new Option("-o, --output <format>", "output format").choices([...formats]).default("table");
}

function valuesFrom(
  parameters: Parameters,
  args: readonly unknown[],
  options: Readonly<Record<string, unknown>>,
): Values<Parameters> {
  let position = 0;
  const entries = Object.entries(parameters).map(([key, parameter]) => {
    const given = parameter.kind === "argument" ? args[position++] : options[optionKey(key)];
    return [key, parameter.kind === "flag" ? isSet(key, given) : (given ?? absent(parameter))];
  });
  return Object.fromEntries(entries);
}

function absent({ isList, fallback }: Parameter<unknown>): unknown {
  return isList ? [] : fallback;
}

/** Commander keeps `--no-x` as `x`, which is true until the flag is given. */
function isSet(key: string, given: unknown): boolean {
  return kebab(key).startsWith("no-") ? given === false : given === true;
}

function optionKey(key: string): string {
  const rest = /^no([A-Z].*)$/.exec(key)?.[1];
  return rest === undefined ? key : `${rest.charAt(0).toLowerCase()}${rest.slice(1)}`;
}

/** Returns the name of a parameter as it is typed: `device-class` for `deviceClass`. */
function kebab(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function isFile({ placeholder }: Parameter<unknown>["type"]): boolean {
  return placeholder === "file" || placeholder === "dir";
}
