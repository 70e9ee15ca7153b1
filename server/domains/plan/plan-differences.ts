import type { SavedMutation } from "./saved-mutation.ts";

/** A message names at most this many differences. */
const maxNamed = 5;

/**
 * Describes what differs between a saved plan and the plan of the same call now; empty if they are the same. Facts come first,
 * because the rest follows from them.
 */
export function planDifferences(saved: SavedMutation, now: SavedMutation): string {
  const differences = [...factDifferences(saved, now), ...otherDifferences(saved, now)];
  const named = differences.slice(0, maxNamed).join("; ");
  const more = differences.length - maxNamed;
  return more > 0 ? `${named}; and ${more} more` : named;
}

function factDifferences(saved: SavedMutation, now: SavedMutation): string[] {
  const nameOf = (fact: SavedMutation["facts"][number]) => `${fact.resource} ${fact.name}`;
  const before = new Map(saved.facts.map((fact) => [nameOf(fact), fact.value]));
  const after = new Map(now.facts.map((fact) => [nameOf(fact), fact.value]));
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) =>
    before.get(name) === after.get(name)
      ? []
      : `${name} was ${wordsOf(before.get(name))}, is ${wordsOf(after.get(name))}`,
  );
}

function wordsOf(value: string | undefined): string {
  return value === undefined ? "not part of the plan" : JSON.stringify(value);
}

function otherDifferences(saved: SavedMutation, now: SavedMutation): string[] {
  const parts = {
    kind: "the kind of change",
    resource: "the resource",
    changes: "the changes",
    losses: "the losses",
    steps: "the commands",
    pointOfNoReturn: "the point of no return",
  } as const;
  return Object.entries(parts).flatMap(([key, words]) => {
    const name = key as keyof typeof parts;
    const [before, after] = [JSON.stringify(saved[name]), JSON.stringify(now[name])];
    return before === after ? [] : `${words}: ${before} in the plan, ${after} now`;
  });
}
