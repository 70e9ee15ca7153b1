import type { DescEnum, EnumShape } from "@bufbuild/protobuf";
import { InvalidArgumentError } from "commander";
import { enumText } from "./enum-text.ts";
import { parseCount } from "./parse/parse-count.ts";
import { parseDuration } from "./parse/parse-duration.ts";
import { parseSize } from "./parse/parse-size.ts";
import { parseTime } from "./parse/parse-time.ts";
import type { Reference } from "./reference.ts";

/** The accepted values of an argument or an option. */
export interface ValueType<Value> {
  /** As in the help: `<placeholder>`. `file` and `dir` are completed from the file system. */
  readonly placeholder: string;
  /** @throws InvalidArgumentError that says what was expected */
  parse(text: string): Value;
  /** The accepted words, if there are few. */
  readonly choices?: readonly string[];
  /** The resources that it names: completed, and found by unique prefixes of their ids. */
  readonly reference?: Reference;
}

/** An argument, an option or a flag of a command. Its name is its key in `parameters`. */
export interface Parameter<Value> {
  readonly kind: "argument" | "option" | "flag";
  readonly help: string;
  readonly type: ValueType<unknown>;
  readonly isRequired: boolean;
  /** Takes several values: the remaining arguments, or a repeatable option. */
  readonly isList: boolean;
  /** One letter. */
  readonly short?: string;
  /** The option that excludes it. */
  readonly conflicts?: string;
  /** Value of an option that is not given. */
  readonly fallback?: unknown;
  /** Only for the type. */
  readonly value?: Value;
}

export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** The values of parameters, by their keys. */
export type Values<Of extends Parameters> = {
  readonly [Key in keyof Of]: Of[Key] extends Parameter<infer Value> ? Value : never;
};

type Extra = Partial<Pick<Parameter<unknown>, "short" | "conflicts">>;

/** A required argument, by its position. */
export function argument(help: string): Parameter<string>;
export function argument<Value>(help: string, type: ValueType<Value>): Parameter<Value>;
export function argument(help: string, type: ValueType<unknown> = text): Parameter<unknown> {
  return { kind: "argument", help, type, isRequired: true, isList: false };
}

/** An argument that may be omitted; it must be the last. */
export function optionalArgument<Value>(help: string, type: ValueType<Value>): Parameter<Value | undefined> {
  return { kind: "argument", help, type, isRequired: false, isList: false };
}

/** Takes all remaining arguments. */
export function argumentList<Value>(
  help: string,
  type: ValueType<Value>,
  { isRequired = true }: { readonly isRequired?: boolean } = {},
): Parameter<readonly Value[]> {
  return { kind: "argument", help, type, isRequired, isList: true };
}

/** An option with a value; undefined if it is not given. */
export function option<Value>(
  help: string,
  type: ValueType<Value>,
  extra: Extra = {},
): Parameter<Value | undefined> {
  return { kind: "option", help, type, isRequired: false, isList: false, ...extra };
}

/** An option with a default, which is typed as the option's value would be. */
export function withDefault<Value>(typed: string, help: string, type: ValueType<Value>): Parameter<Value> {
  const fallback = type.parse(typed);
  const shown = `${help} (default: ${typed})`;
  return { kind: "option", help: shown, type, isRequired: false, isList: false, fallback };
}

/** An option that must be given. */
export function requiredOption<Value>(help: string, type: ValueType<Value>): Parameter<Value> {
  return { kind: "option", help, type, isRequired: true, isList: false };
}

/** An option that may be repeated. */
export function optionList<Value>(help: string, type: ValueType<Value>): Parameter<readonly Value[]> {
  return { kind: "option", help: `${help}; repeatable`, type, isRequired: false, isList: true };
}

/** An option without a value: true if it is given. */
export function flag(help: string, extra: Extra = {}): Parameter<boolean> {
  return { kind: "flag", help, type: text, isRequired: false, isList: false, ...extra };
}

/** A text that the gateway checks. */
export function word(placeholder: string): ValueType<string> {
  return { placeholder, parse: (value) => value };
}

const text = word("value");

/** A text that must not be empty, as the value of an unset shell variable would be. */
export function nonEmpty(placeholder: string, what: string): ValueType<string> {
  return {
    placeholder,
    parse: (value) => {
      if (value === "") {
        throw new InvalidArgumentError(`expected ${what}`);
      }
      return value;
    },
  };
}

/** A name of one of the resources that `reference` lists, or a unique prefix of an id. */
export function nameOf(placeholder: string, reference: Reference): ValueType<string> {
  return { ...nonEmpty(placeholder, "a name or an id"), reference };
}

/** One of these texts. */
export function choice<const Choice extends string>(
  placeholder: string,
  choices: readonly Choice[],
): ValueType<Choice> {
  return {
    placeholder,
    choices,
    parse: (value) => {
      const found = choices.find((each) => each === value);
      if (found === undefined) {
        throw new InvalidArgumentError(`Allowed choices are ${choices.join(", ")}.`);
      }
      return found;
    },
  };
}

/** A value of an enum, by the name that `enumText` returns. */
export function enumChoice<Schema extends DescEnum>(
  placeholder: string,
  schema: Schema,
  { hasUnknown = false }: { readonly hasUnknown?: boolean } = {},
): ValueType<EnumShape<Schema>> {
  const named = schema.values
    .filter(({ number }) => hasUnknown || number !== 0)
    .map(({ number }) => [enumText(schema, number), number] as const);
  const type = choice(
    placeholder,
    named.map(([name]) => name),
  );
  const numbers = new Map(named);
  return { ...type, parse: (value) => (numbers.get(type.parse(value)) ?? 0) as EnumShape<Schema> };
}

/** Bytes, given with a unit. */
export const size: ValueType<bigint> = { placeholder: "size", parse: parseSize };

const gibBytes = 1n << 30n;

/** A size given with a unit, in GiB: for requests that take whole GiB. */
export const wholeGib: ValueType<bigint> = {
  placeholder: "size",
  parse: (value) => {
    const bytes = parseSize(value);
    if (bytes % gibBytes !== 0n) {
      throw new InvalidArgumentError("expected whole GiB, such as 10GiB");
    }
    return bytes / gibBytes;
  },
};

/** Milliseconds, given with a unit. */
export const duration: ValueType<number> = { placeholder: "duration", parse: parseDuration };

export const count: ValueType<number> = { placeholder: "number", parse: parseCount };

export const time: ValueType<Date> = { placeholder: "time", parse: parseTime };

export const file = word("file");

/** Names separated by commas. */
export const names: ValueType<readonly string[]> = {
  placeholder: "names",
  parse: (value) => {
    const all = value.split(",").map((name) => name.trim());
    if (all.includes("")) {
      throw new InvalidArgumentError("expected names separated by commas");
    }
    return all;
  },
};
