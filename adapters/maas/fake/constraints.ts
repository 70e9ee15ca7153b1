import type { FakeMachine } from "./machine.ts";
import type { FakeRegion } from "./region.ts";

type FormErrors = Readonly<Record<string, readonly string[]>>;

export interface Constraints {
  readonly systemId: string | undefined;
  isMet(machine: FakeMachine): boolean;
  /** Text of the 409 if no machine meets a request. */
  readonly unmet: string;
}

const options = [
  "op",
  "agent_name",
  "comment",
  "dry_run",
  "verbose",
  "bridge_all",
  "bridge_type",
  "bridge_stp",
  "bridge_fd",
];

interface Rule {
  readonly isMet: (machine: FakeMachine) => boolean;
  /** Text of the constraint in a 409. */
  readonly resolved: string;
  readonly errors?: readonly string[];
}

/**
 * Parses the constraints of `allocate`. MAAS has more (storage, interfaces and so on), which the fake does not support.
 */
export function parseConstraints(
  form: URLSearchParams,
  region: FakeRegion,
): Constraints | { readonly errors: FormErrors } {
  const keys = [...new Set(form.keys())];
  const rules = new Map<string, Rule>();
  const errors: Record<string, readonly string[]> = {};
  for (const key of keys.filter((each) => !options.includes(each) && each !== "system_id")) {
    const values = form.getAll(key).flatMap((value) => value.split(/[,\s]+/).filter((word) => word !== ""));
    const rule = ruleFor(key, key === "pool" || key === "zone" ? form.getAll(key) : values, region);
    if (rule.errors !== undefined) {
      errors[key] = rule.errors;
    }
    rules.set(key, rule);
  }
  if (Object.keys(errors).length > 0) {
    return { errors };
  }
  const described = [...rules].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const resolved = described.map(([key, rule]) => `${key}=${rule.resolved}`).join(" ");
  const requested = keys
    .filter((key) => key !== "op")
    .map((key) => `('${key}', ${quotedList(form.getAll(key))})`);
  return {
    systemId: form.get("system_id") ?? undefined,
    isMet: (machine) => [...rules.values()].every((rule) => rule.isMet(machine)),
    unmet:
      resolved === ""
        ? "No machine available."
        : `No available machine matches constraints: [${requested.join(", ")}] (resolved to "${resolved}")`,
  };
}

/** Formats a list as Python does. */
function quotedList(values: readonly string[]): string {
  return `[${values.map((value) => `'${value}'`).join(", ")}]`;
}

function ruleFor(key: string, values: readonly string[], region: FakeRegion): Rule {
  const { tags, pools, zones } = region.options;
  const resolved = values.toSorted().join(",");
  const has = (machine: FakeMachine) => (tag: string) => machine.tags.includes(tag);
  switch (key) {
    case "tags":
      return { resolved, ...unknownTags(values, tags), isMet: (machine) => values.every(has(machine)) };
    case "not_tags":
      return { resolved, ...unknownTags(values, tags), isMet: (machine) => !values.some(has(machine)) };
    case "pool":
      return {
        resolved,
        ...unknownPlaces("pool", values, pools),
        isMet: ({ pool }) => values.includes(pool),
      };
    case "not_in_pool":
      return {
        resolved,
        ...unknownPlaces("pool", values, pools),
        isMet: ({ pool }) => !values.includes(pool),
      };
    case "zone":
      return {
        resolved,
        ...unknownPlaces("zone", values, zones),
        isMet: ({ zone }) => values.includes(zone),
      };
    case "not_in_zone":
      return {
        resolved,
        ...unknownPlaces("zone", values, zones),
        isMet: ({ zone }) => !values.includes(zone),
      };
    case "arch":
      return architectureRule(values, region);
    case "cpu_count":
      return leastRule(values, "Invalid CPU count: number required.", ({ cpuCount }) => cpuCount);
    case "mem":
      return leastRule(values, "Invalid memory: number of MiB required.", ({ memoryMib }) => memoryMib);
    case "name":
      return {
        resolved,
        isMet: ({ hostname }) => values[0] === hostname || values[0] === `${hostname}.maas`,
      };
    default:
      return { resolved, isMet: () => false, errors: ["No such constraint."] };
  }
}

interface Checked {
  readonly errors?: readonly string[];
}

/** Checks for unknown tags, with MAAS's message. */
export function unknownTags(values: readonly string[], known: readonly string[]): Checked {
  const missing = values.filter((value) => !known.includes(value)).map((tag) => `'${tag}'`);
  return missing.length === 0 ? {} : { errors: [`No such tag(s): ${missing.join(", ")}.`] };
}

/** Checks for unknown pools or zones, with MAAS's message. @param what `pool` or `zone` */
export function unknownPlaces(what: string, values: readonly string[], known: readonly string[]): Checked {
  const missing = values.filter((value) => !known.includes(value));
  return missing.length === 0 ? {} : { errors: [`No such ${what}(s): ${missing.join(", ")}.`] };
}

function architectureRule(values: readonly string[], region: FakeRegion): Rule {
  const fits = ({ architecture }: FakeMachine) =>
    values.some((value) => architecture === value || architecture.startsWith(`${value}/`));
  const isKnown = values.every((value) =>
    region
      .machines()
      .some(({ architecture }) => architecture === value || architecture.startsWith(`${value}/`)),
  );
  return {
    resolved: values.join(","),
    isMet: fits,
    ...(!isKnown && { errors: ["Architecture not recognised."] }),
  };
}

function leastRule(
  values: readonly string[],
  error: string,
  amountOf: (machine: FakeMachine) => number,
): Rule {
  const least = Number(values[0]);
  return {
    resolved: Number.isInteger(least) ? `${least}.0` : String(least),
    isMet: (machine) => amountOf(machine) >= least,
    ...(Number.isNaN(least) && { errors: [error] }),
  };
}
