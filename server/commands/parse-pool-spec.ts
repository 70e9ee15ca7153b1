import { InvalidArgumentError } from "commander";

/** How many machines of what type, with which labels, as an option says it. */
export interface MachinesSpec {
  readonly count: number;
  readonly instanceType: string;
  readonly labels: readonly { readonly name: string; readonly value: string }[];
}

/** A pool of them. */
export interface PoolSpec extends MachinesSpec {
  readonly name: string;
}

/** A number of machines for a pool. */
export type PoolSize = Pick<PoolSpec, "name" | "count">;

const machinesForm = "<count>[,type][,label=value]...";

/**
 * Reads `3`, `3,gpu` or `3,standard,disk=ssd,tier=gold`; the type is `standard` unless told. Which types and labels there are, the
 * gateway says.
 * @throws InvalidArgumentError
 */
export function parseMachinesSpec(text: string): MachinesSpec {
  const [number = "", ...words] = text.split(",");
  const types = words.filter((word) => !word.includes("="));
  const [instanceType = "standard"] = types;
  if (!/^[0-9]{1,9}$/.test(number) || types.length > 1 || words.includes("")) {
    throw new InvalidArgumentError(`expected ${machinesForm}, such as 3 or 3,gpu,tier=gold`);
  }
  const labels = words.filter((word) => word.includes("=")).map(nameAndRest);
  return { count: Number(number), instanceType, labels: labels.map(([name, value]) => ({ name, value })) };
}

/** Reads `workers=3,gpu,tier=gold`. @throws InvalidArgumentError */
export function parsePoolSpec(text: string): PoolSpec {
  const [name, rest] = nameAndRest(text);
  if (name === "" || name.includes(",")) {
    throw new InvalidArgumentError(`expected <name>=${machinesForm}, such as workers=3 or workers=3,gpu`);
  }
  return { name, ...parseMachinesSpec(rest) };
}

/** Reads `workers=5`. @throws InvalidArgumentError */
export function parsePoolSize(text: string): PoolSize {
  const [name, number] = nameAndRest(text);
  if (name === "" || !/^[0-9]{1,9}$/.test(number)) {
    throw new InvalidArgumentError("expected <pool>=<count>, such as workers=5");
  }
  return { name, count: Number(number) };
}

/** What is before the first `=`, and what is behind it. */
function nameAndRest(text: string): readonly [name: string, rest: string] {
  const equals = text.indexOf("=");
  return equals === -1 ? ["", ""] : [text.slice(0, equals), text.slice(equals + 1)];
}
