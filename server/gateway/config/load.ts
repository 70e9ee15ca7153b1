import type { z } from "zod";
import { describeValue, expectationOf, formatKeyPath, type Mistake } from "../../config/mistake.ts";
import { type ConfigFile, parseConfigFile, readConfigFile } from "./file.ts";
import { configKeys } from "./keys.ts";
import { type Config, configSchema } from "./schema.ts";
import {
  type ConfigFlags,
  type Setting,
  settingsFromEnv,
  settingsFromFlags,
  suggestion,
} from "./settings.ts";

/** Either the whole configuration or every mistake in it. */
export type LoadedConfig =
  | { readonly ok: true; readonly config: Config; readonly file: string | undefined }
  | { readonly ok: false; readonly mistakes: readonly Mistake[] };

export interface ConfigSources {
  /** Path of the YAML file. If undefined, HOSTPLANE_CONFIG; if that is unset too, no file. */
  readonly file?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags?: ConfigFlags;
}

/** Keys of earlier versions, at the top, with what to do about them. */
const removedKeys: Readonly<Record<string, string>> = {
  directPath: "removed: the gateway always uses its short path; delete the key",
};

/** Designed keys that a later version adds, by the path of their group. */
const laterKeys: Readonly<Record<string, readonly string[]>> = {
  "listen[]": ["host", "maxMessageBytes"],
};

/**
 * Builds the configuration key by key: flags override environment, file and defaults in that order. A list replaces a list. Never
 * throws because of the content of its sources; each mistake has a position and what was expected.
 */
export async function loadConfig({ file, env, flags = {} }: ConfigSources): Promise<LoadedConfig> {
  const path = file ?? (env.HOSTPLANE_CONFIG || undefined);
  const content = path === undefined ? parseConfigFile("configuration", "") : await readConfigFile(path);
  const fromEnv = settingsFromEnv(env);
  const fromFlags = settingsFromFlags(flags);
  const settings = [...fromEnv.settings, ...fromFlags.settings];
  const given = settings.reduce<unknown>(
    (each, { path, value }) => withValue(each, path, value),
    content.value,
  );
  const tree = withStateDirectory(given, env.STATE_DIRECTORY);

  const parsed = configSchema.safeParse(tree, { error: expectationOf });
  const sources = { content, settings, tree, hasFile: path !== undefined };
  const issues = (parsed.error?.issues ?? []).flatMap(issuesMeant).filter(
    // Keys that are missing only because the file cannot be read are not reported.
    (issue) => content.understood || settingOf(issue.path, settings) !== undefined,
  );
  const mistakes = [
    ...content.mistakes,
    ...fromEnv.mistakes,
    ...fromFlags.mistakes,
    ...issues.flatMap((issue) => mistakesFromIssue(issue, sources)),
  ];
  if (mistakes.length > 0 || !parsed.success) {
    return { ok: false, mistakes };
  }
  return { ok: true, config: parsed.data, file: path };
}

interface Sources {
  readonly content: ConfigFile;
  readonly settings: readonly Setting[];
  readonly tree: unknown;
  readonly hasFile: boolean;
}

/** Returns the issues of a value. If it may be text or a group, these are the issues of the alternative that it matches. */
function issuesMeant(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") {
    return [issue];
  }
  const isOther = ({ code, path }: z.core.$ZodIssue) => code === "invalid_type" && path.length === 0;
  const meant = issue.errors.find((issues) => !issues.some(isOther));
  return meant === undefined
    ? [issue]
    : meant.map((each) => ({ ...each, path: [...issue.path, ...each.path] }));
}

function mistakesFromIssue(issue: z.core.$ZodIssue, sources: Sources): Mistake[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      where: whereOf([...issue.path, key], sources),
      // YAML parses `{store:postgres://user:password@host}` as a key.
      key: formatKeyPath([...issue.path, key.replace(/[^\w.-].*/s, "...")]),
      message: unknownKey(issue.path, key),
    }));
  }
  const found = valueAt(sources.tree, issue.path);
  const key = configKeys().find(({ path }) => path === schemaPathOf(issue.path));
  const expected = key?.kind === "number" && issue.code !== "custom" ? `expected ${key.type}` : issue.message;
  const described = key?.isSecret === true && typeof found === "string" ? "text" : describeValue(found);
  return [
    {
      where: whereOf(issue.path, sources),
      key: formatKeyPath(issue.path),
      message: `${found === undefined ? "missing" : `found ${described}`}, ${expected}`,
    },
  ];
}

function whereOf(path: readonly PropertyKey[], { content, settings, hasFile }: Sources): string {
  return settingOf(path, settings)?.where ?? (hasFile ? content.positionOf(path) : "configuration");
}

function settingOf(path: readonly PropertyKey[], settings: readonly Setting[]): Setting | undefined {
  return settings.findLast((each) => each.path.every((name, at) => name === path[at]));
}

function valueAt(tree: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, name)
        ? (value as Readonly<Record<PropertyKey, unknown>>)[name]
        : undefined,
    tree,
  );
}

/** Returns the path in the schema: `listen[].address` for the address of any entry. */
function schemaPathOf(path: readonly PropertyKey[]): string {
  return path
    .map((name, at) => (typeof name === "number" ? "[]" : `${at > 0 ? "." : ""}${String(name)}`))
    .join("");
}

function unknownKey(parent: readonly PropertyKey[], name: string): string {
  const group = schemaPathOf(parent);
  const removed = group === "" ? removedKeys[name] : undefined;
  if (removed !== undefined) {
    return removed;
  }
  if (laterKeys[group]?.includes(name)) {
    return "not in this version of hostplane";
  }
  const prefix = group === "" ? "" : `${group}.`;
  const siblings = configKeys()
    .filter(({ path }) => path.startsWith(prefix))
    .map(({ path }) => path.slice(prefix.length))
    .filter((rest) => !/[.[]/.test(rest));
  return `unknown key${suggestion(name, siblings) || `; known keys: ${siblings.join(", ")}`}`;
}

/** Sets the default of `data` to the first `StateDirectory=` of a systemd unit, which separates several with colons. */
function withStateDirectory(tree: unknown, directories: string | undefined): unknown {
  const [first] = directories?.split(":") ?? [];
  return first && valueAt(tree, ["data"]) === undefined ? withValue(tree, ["data"], first) : tree;
}

/** Copies `tree` with `value` set at `path`. If the file has something other than a group on the way, the schema reports it. */
function withValue(tree: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) {
    return value;
  }
  if (typeof tree !== "object" || tree === null || Array.isArray(tree)) {
    return tree;
  }
  const group = new Map(Object.entries(tree));
  group.set(name, withValue(group.get(name) ?? {}, rest, value));
  return Object.fromEntries(group);
}
