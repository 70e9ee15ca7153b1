import { invalidField } from "../host/infra-error.ts";

interface CreateOption {
  /** Letter of the short form. */
  readonly short?: string;
  /** Pattern of its value; absent for an option without a value. */
  readonly value?: RegExp;
}

const size = /^[1-9]\d{0,9}[bskmgt]?$/i;

/**
 * Options of lvcreate (lvcreate(8)) that control how a thick volume is laid out on its devices. Options that name
 * volumes, groups, devices or tags, or that wipe or activate, are not allowed: the gateway sets these itself, and
 * lvcreate could create something else with them.
 */
const createOptions: Readonly<Record<string, CreateOption>> = {
  alloc: { value: /^(contiguous|cling|cling_by_tags|normal|anywhere|inherit)$/ },
  contiguous: { short: "C", value: /^[yn]$/ },
  maxrecoveryrate: { value: size },
  minrecoveryrate: { value: size },
  mirrorlog: { value: /^(core|disk|mirrored)$/ },
  mirrors: { short: "m", value: /^([0-9]|10)$/ },
  nosync: {},
  raidintegrity: { value: /^[yn]$/ },
  raidintegritymode: { value: /^(bitmap|journal)$/ },
  readahead: { short: "r", value: /^(auto|none|\d{1,9})$/ },
  regionsize: { short: "R", value: size },
  stripes: { short: "i", value: /^([1-9]|[1-9]\d|1[01]\d|12[0-8])$/ },
  stripesize: { short: "I", value: size },
  type: { value: /^(linear|striped|mirror|raid([0145]|10|0_meta|5_(ls|la|rs|ra|n)|6|6_(zr|nr|nc))|raid6)$/ },
};

/**
 * Normalizes lvcreate options to their long form: `["-i2", "--type=raid5"]` becomes `["--stripes", "2", "--type",
 * "raid5"]`.
 * @param words as on a command line; an option and its value may be one word or two
 * @throws InfraError INVALID_FIELD for anything other than a layout option
 */
export function parseCreateOptions(words: readonly string[], field: string): string[] {
  const parsed: string[] = [];
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const { name, attached } = splitWord(word);
    const option = Object.hasOwn(createOptions, name) ? createOptions[name] : undefined;
    if (option === undefined) {
      throw invalidField(field, `unsupported option ${JSON.stringify(word)} (supported: ${knownOptions()})`);
    }
    if (option.value === undefined) {
      if (attached !== undefined) {
        throw invalidField(field, `--${name} takes no value`);
      }
      parsed.push(`--${name}`);
      continue;
    }
    const value = attached ?? left.shift();
    if (value === undefined || !option.value.test(value)) {
      throw invalidField(
        field,
        `--${name} requires a value that matches ${option.value.source}, not ${JSON.stringify(value)}`,
      );
    }
    parsed.push(`--${name}`, value);
  }
  return parsed;
}

/** Splits `--name`, `--name=value`, `-n` or `-nvalue`. */
function splitWord(word: string): { readonly name: string; readonly attached: string | undefined } {
  const long = /^--([a-z_]+)(?:=(.*))?$/s.exec(word);
  if (long !== null) {
    return { name: long[1] ?? "", attached: long[2] };
  }
  const [, letter, rest] = /^-([A-Za-z])(.*)$/s.exec(word) ?? [];
  const [name = ""] =
    Object.entries(createOptions).find(([, { short }]) => short === letter && short !== undefined) ?? [];
  return { name, attached: rest === "" ? undefined : rest };
}

function knownOptions(): string {
  return Object.keys(createOptions)
    .map((name) => `--${name}`)
    .join(", ");
}
