import { parse } from "yaml";
import { closestName } from "../../config/closest-name.ts";
import type { Mistake } from "../../config/mistake.ts";
import { type ConfigKey, configKeys } from "./keys.ts";

/** One key set outside the file. */
export interface Setting {
  readonly path: readonly string[];
  readonly value: unknown;
  /** The variable or flag, as named in messages. */
  readonly where: string;
}

/** Settings in ascending precedence, and the mistakes for those that name no key. */
export interface Settings {
  readonly settings: readonly Setting[];
  readonly mistakes: readonly Mistake[];
}

/** The command-line flags that set keys. */
export interface ConfigFlags {
  readonly listen?: readonly string[];
  readonly data?: string;
  readonly logLevel?: string;
  /** `key=value`; the last one for a key wins. */
  readonly set?: readonly string[];
}

/**
 * Variables that are not keys: the path of the file, the gateway that commands call, secrets that are not in a file (the master key, the first admin's password),
 * and the settings of the lab tests.
 */
export const otherVariables: readonly string[] = [
  "HOSTPLANE_CONFIG",
  "HOSTPLANE_CONTEXT",
  "HOSTPLANE_KEY",
  "HOSTPLANE_ADMIN_PASSWORD",
  "HOSTPLANE_ADMIN_PASSWORD_FILE",
  "HOSTPLANE_LAB",
];

/**
 * Kubernetes sets these in every container if there is a Service named hostplane. Of these names only HOSTPLANE_PORT could also
 * be a typing mistake, so its value is checked.
 */
const serviceLink =
  /^HOSTPLANE_(SERVICE_(HOST|PORT)\w*|PORT_\d+_(TCP|UDP|SCTP)\w*)=|^HOSTPLANE_PORT=\w+:\/\//;

/** Returns the keys set by HOSTPLANE_* variables. An empty variable counts as absent; an unknown one is a mistake. */
export function settingsFromEnv(env: Readonly<Record<string, string | undefined>>): Settings {
  const settings: Setting[] = [];
  const mistakes: Mistake[] = [];
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith("HOSTPLANE_") || text === undefined || text === "") {
      continue;
    }
    if (otherVariables.includes(name) || serviceLink.test(`${name}=${text}`)) {
      continue;
    }
    const key = configKeys().find(({ variable }) => variable === name);
    if (key) {
      settings.push({ path: key.path.split("."), value: valueFromText(key, text), where: name });
    } else {
      mistakes.push({ where: name, key: "", message: unknownVariable(name) });
    }
  }
  return { settings, mistakes };
}

/** Returns the keys set by flags. */
export function settingsFromFlags(flags: ConfigFlags): Settings {
  const settings: Setting[] = [];
  const mistakes: Mistake[] = [];
  const { listen = [], data, logLevel, set = [] } = flags;
  if (listen.length > 0) {
    settings.push({ path: ["listen"], value: listen.map((address) => ({ address })), where: "--listen" });
  }
  if (data !== undefined) {
    settings.push({ path: ["data"], value: data, where: "--data" });
  }
  if (logLevel !== undefined) {
    settings.push({ path: ["log", "level"], value: logLevel, where: "--log-level" });
  }
  for (const text of set) {
    const [, path = "", value] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
    const key = configKeys().find((each) => each.path === path && each.flag !== undefined);
    if (key && value !== undefined) {
      settings.push({ path: path.split("."), value: valueFromText(key, value), where: `--set ${path}` });
    } else {
      const message = value === undefined ? "expected key=value" : unsettable(path);
      // The value may be a secret, and so may a text that is not a key.
      const isName = /^[\w.[\]]+$/.test(value === undefined ? text : path);
      const named = value === undefined ? text : path;
      mistakes.push({ where: isName ? `--set ${named}` : "--set", key: "", message });
    }
  }
  return { settings, mistakes };
}

/**
 * Parses `text` for a key. Lists are separated by commas, lists of groups are YAML (`[{name: a}]`), and addresses of `listen` may
 * be either. A text of the wrong type is returned unchanged, for the schema to refuse.
 */
function valueFromText(key: ConfigKey, text: string): unknown {
  switch (key.kind) {
    case "number":
      return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
    case "boolean":
      return text === "true" || (text === "false" ? false : text);
    case "list":
      return entriesOf(text);
    case "groups":
      if (key.path === "listen" && !text.startsWith("[")) {
        return entriesOf(text).map((address) => ({ address }));
      }
      try {
        return parse(text, { logLevel: "error" });
      } catch {
        return text;
      }
    default:
      return text;
  }
}

function entriesOf(text: string): string[] {
  return text.split(",").map((entry) => entry.trim());
}

function unknownVariable(name: string): string {
  const variables = configKeys().flatMap(({ variable }) => variable ?? []);
  return `unknown variable${suggestion(name, [...variables, ...otherVariables])}`;
}

function unsettable(path: string): string {
  const keys = configKeys();
  const known = keys.find((key) => key.path === path);
  if (known?.isSecret === true) {
    return `it may hold a secret, and every user of the host can read arguments; set it in the file or with ${known.variable}`;
  }
  if (known !== undefined) {
    return "it is a group of keys, or inside a list; set a single key";
  }
  return `unknown key${suggestion(
    path,
    keys.filter(({ flag }) => flag !== undefined).map((key) => key.path),
  )}`;
}

/** Returns `; did you mean "x"?`, or nothing if no name is close. */
export function suggestion(typed: string, names: readonly string[]): string {
  const name = closestName(typed, names);
  return name === undefined ? "" : `; did you mean ${JSON.stringify(name)}?`;
}
