import { chmod, mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { UsageError } from "../table/usage-error.ts";

/** A remote gateway that a user has logged in to. */
export interface RemoteContext {
  /** As given to `login`, without a trailing slash. */
  readonly url: string;
  /** Who the token belongs to, such as `user/alice`. */
  readonly actor: string;
  readonly token: string;
  /** Whether the token is that of a login, which `logout` revokes, or an API token. */
  readonly isLogin: boolean;
  /** Fingerprint of the only accepted certificate; absent if the system's store decides. */
  readonly pin?: string | undefined;
}

/** The remote gateways of a user, by their names. */
export interface Contexts {
  /** The context of commands that name none; absent for the local gateway. */
  readonly current?: string | undefined;
  readonly contexts: Readonly<Record<string, RemoteContext>>;
}

const openToOthers = 0o077;

/** Returns the path of the file that holds the contexts and their tokens. */
export function contextsFile(env: NodeJS.ProcessEnv = process.env): string {
  const { XDG_CONFIG_HOME: configHome } = env;
  return join(configHome || join(homedir(), ".config"), "hostplane", "contexts.json");
}

/** Reads the contexts; none if the file does not exist. @throws Error when it is damaged or others may read it */
export async function readContexts(file: string): Promise<Contexts> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return { contexts: {} };
    }
    throw error;
  }
  if (((await stat(file)).mode & openToOthers) !== 0) {
    throw new Error(`other users can read the tokens in ${file}: run chmod 600 ${file}`);
  }
  const contexts = contextsFrom(text);
  if (contexts === undefined) {
    throw new Error(`${file} is damaged: remove it and log in again`);
  }
  return contexts;
}

function contextsFrom(text: string): Contexts | undefined {
  try {
    const value = JSON.parse(text) as Contexts;
    const isComplete = Object.values(value.contexts).every(
      ({ url, token, actor }) => URL.canParse(url) && typeof token === "string" && typeof actor === "string",
    );
    return isComplete ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces the contexts. The file is readable for its owner only. */
export async function writeContexts(file: string, contexts: Contexts): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const next = `${file}.${process.pid}`;
  await writeFile(next, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600 });
  await chmod(next, 0o600);
  await rename(next, file);
}

/** Returns the context of this name. @throws UsageError that lists the known ones */
export function contextNamed({ contexts }: Contexts, name: string): RemoteContext {
  const found = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (found === undefined) {
    const known = Object.keys(contexts).join(", ") || "none; create one with `hostplane login`";
    throw new UsageError(`context "${name}" not found (known: ${known})`);
  }
  return found;
}
