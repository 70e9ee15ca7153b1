import type { z } from "zod";
import { type ConfigFile, parseConfigFile, readConfigFile } from "./file.ts";
import { configKeys } from "./keys.ts";
import { describeValue, expectationOf, formatKeyPath, type Mistake } from "./mistake.ts";
import { type Config, configSchema } from "./schema.ts";
import {
  type ConfigFlags,
  type Setting,
  settingsFromEnv,
  settingsFromFlags,
  suggestion,
} from "./settings.ts";

/** Either the whole configuration or everything that is wrong with it. */
export type LoadedConfig =
  | { readonly ok: true; readonly config: Config; readonly file: string | undefined }
  | { readonly ok: false; readonly mistakes: readonly Mistake[] };

export interface ConfigSources {
  /** Path of the YAML file; HOSTPLANE_CONFIG if undefined, no file if that is absent too. */
  readonly file?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags?: ConfigFlags;
}

/** Keys of the design that a later version brings, by the path of their group. */
const laterKeys: Readonly<Record<string, readonly string[]>> = {
  "listen[]": ["host", "maxMessageBytes"],
};

/**
 * Puts the configuration together: flags before environment before file before defaults, key by key (a list
 * replaces a list). Never throws for what its sources hold; each mistake says where it is and what was expected.
 */
export async function loadConfig({ file, env, flags = {} }: ConfigSources): Promise<LoadedConfig> {
  const path = file ?? (env.HOSTPLANE_CONFIG || undefined);
  const content = path === undefined ? parseConfigFile("configuration", "") : await readConfigFile(path);
  const fromEnv = settingsFromEnv(env);
  const fromFlags = settingsFromFlags(flags);
  const settings = [...fromEnv.settings, ...fromFlags.settings];
  const tree = settings.reduce<unknown>(
    (each, { path, value }) => withValue(each, path, value),
    content.value,
  );

  const parsed = configSchema.safeParse(tree, { error: expectationOf });
  const sources = { content, settings, tree, hasFile: path !== undefined };
  const issues = (parsed.error?.issues ?? []).flatMap(issuesMeant).filter(
    // What a file that cannot be read lacks is not worth telling.
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

/** Where a value may be text or a group: the issues of the one that it is. */
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
      // `{store:postgres://user:password@host}` is a key to YAML.
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

/** `listen[].address` for the address of any entry. */
function schemaPathOf(path: readonly PropertyKey[]): string {
  return path
    .map((name, at) => (typeof name === "number" ? "[]" : `${at > 0 ? "." : ""}${String(name)}`))
    .join("");
}

function unknownKey(parent: readonly PropertyKey[], name: string): string {
  const group = schemaPathOf(parent);
  if (laterKeys[group]?.includes(name)) {
    return "not in this version of hostplane";
  }
  const prefix = group === "" ? "" : `${group}.`;
  const siblings = configKeys()
    .filter(({ path }) => path.startsWith(prefix))
    .map(({ path }) => path.slice(prefix.length))
    .filter((rest) => !/[.[]/.test(rest));
  return `unknown key${suggestion(name, siblings) || `; known are ${siblings.join(", ")}`}`;
}

/** A copy of `tree` with `value` at `path`; where the file has no group to put it in, the schema will say so. */
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
