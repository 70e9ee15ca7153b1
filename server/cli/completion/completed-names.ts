import type { Argument, Option } from "commander";

const nouns = new WeakMap<object, string>();

/** The noun of the names of contexts, which are not resources of a gateway. */
export const contextNoun = "context";

/** The noun of the names of hosts. */
export const hostNoun = "host";

/** Has an argument or option completed with the names of a noun's resources. */
export function completeNames<Of extends Argument | Option>(target: Of, noun: string): Of {
  nouns.set(target, noun);
  return target;
}

/** Returns the noun whose names complete an argument or option. */
export function completedNoun(target: Argument | Option): string | undefined {
  return nouns.get(target);
}
