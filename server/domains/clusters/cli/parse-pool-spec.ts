import { InvalidArgumentError } from "commander";

/** Number, instance type and labels of machines, as given by an option. */
export interface MachinesSpec {
  readonly count: number;
  readonly instanceType: string;
  readonly labels: readonly { readonly name: string; readonly value: string }[];
}

/** A pool of machines. */
export interface PoolSpec extends MachinesSpec {
  readonly name: string;
}

/** New number of machines of a pool. */
export type PoolSize = Pick<PoolSpec, "name" | "count">;

const machinesForm = "<count>[,type][,label=value]...";

/**
 * Parses `3`, `3,gpu` or `3,standard,disk=ssd,tier=gold`. The type defaults to `standard`. Types and labels are validated by
 * the gateway.
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

/** Parses `workers=3,gpu,tier=gold`. @throws InvalidArgumentError */
export function parsePoolSpec(text: string): PoolSpec {
  const [name, rest] = nameAndRest(text);
  if (name === "" || name.includes(",")) {
    throw new InvalidArgumentError(`expected <name>=${machinesForm}, such as workers=3 or workers=3,gpu`);
  }
  return { name, ...parseMachinesSpec(rest) };
}

/** Parses `workers=5`. @throws InvalidArgumentError */
export function parsePoolSize(text: string): PoolSize {
  const [name, number] = nameAndRest(text);
  if (name === "" || !/^[0-9]{1,9}$/.test(number)) {
    throw new InvalidArgumentError("expected <pool>=<count>, such as workers=5");
  }
  return { name, count: Number(number) };
}

/** Splits the text at the first `=`. */
function nameAndRest(text: string): readonly [name: string, rest: string] {
  const equals = text.indexOf("=");
  return equals === -1 ? ["", ""] : [text.slice(0, equals), text.slice(equals + 1)];
}
