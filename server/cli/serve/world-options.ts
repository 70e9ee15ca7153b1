import { systemClock } from "../../../adapters/sandbox/clock.ts";
import { createRandom } from "../../../adapters/sandbox/random.ts";
import { type DemoWorld, type WorldSizes, worldSizeRanges } from "../../domain/demo-world.ts";

/** Flags of `serve` about the demo world of a sandbox. */
export interface WorldOptions {
  readonly sandbox?: boolean;
  readonly sandboxQuiet?: boolean;
  readonly sandboxSeed?: string;
  /** Each `key=number`, or several of them separated by commas. */
  readonly sandboxSize?: readonly string[];
}

const defaultSeed = 1;

/**
 * Returns the demo world that the flags ask for; undefined for a quiet sandbox, and without a sandbox.
 * @throws Error that names the flag and what it accepts
 */
export function demoWorldFrom(options: WorldOptions): DemoWorld | undefined {
  const { sandbox = false, sandboxQuiet = false, sandboxSeed, sandboxSize } = options;
  const [given] = [
    ...(sandboxSeed === undefined ? [] : ["--sandbox-seed"]),
    ...(sandboxSize === undefined ? [] : ["--sandbox-size"]),
  ];
  if (!sandbox && (given !== undefined || sandboxQuiet)) {
    throw new Error(`${given ?? "--sandbox-quiet"} needs --sandbox`);
  }
  if (sandboxQuiet && given !== undefined) {
    throw new Error(`${given} is about the demo world, which --sandbox-quiet turns off: remove one of them`);
  }
  if (!sandbox || sandboxQuiet) {
    return undefined;
  }
  const seed = sandboxSeed === undefined ? defaultSeed : parseSeed(sandboxSeed);
  return { clock: systemClock, random: createRandom(seed), sizes: parseSizes(sandboxSize ?? []) };
}

function parseSeed(text: string): number {
  const seed = /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  if (seed === undefined) {
    throw new Error(`--sandbox-seed ${text}: must be a whole number from 0 to 999999999`);
  }
  return seed;
}

function parseSizes(texts: readonly string[]): WorldSizes {
  const sizes = Object.fromEntries(
    Object.entries(worldSizeRanges).map(([key, range]) => [key, range.default]),
  );
  for (const text of texts.flatMap((each) => each.split(","))) {
    const [, key = "", number = ""] = /^([^=]*)=?(.*)$/.exec(text.trim()) ?? [];
    const range = Object.entries(worldSizeRanges).find(([name]) => name === key)?.[1];
    if (range === undefined) {
      throw new Error(`--sandbox-size ${text}: unknown key "${key}" (known: ${describeRanges()})`);
    }
    const size = /^\d{1,9}$/.test(number) ? Number(number) : undefined;
    if (size === undefined || size < range.min || size > range.max) {
      throw new Error(
        `--sandbox-size ${text}: ${key} must be a whole number from ${range.min} to ${range.max}`,
      );
    }
    sizes[key] = size;
  }
  return sizes as { readonly [Key in keyof WorldSizes]: number };
}

/** As `volumes from 10 to 10000, ...`. */
function describeRanges(): string {
  return Object.entries(worldSizeRanges)
    .map(([key, { min, max }]) => `${key} from ${min} to ${max}`)
    .join(", ");
}
