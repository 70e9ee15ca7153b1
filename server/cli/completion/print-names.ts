import type { LazyNoun } from "../../domains/commands.ts";
import type { ExitCode, Output } from "../table/output.ts";
import type { Reference } from "../table/reference.ts";
import type { Session } from "../table/session.ts";
import { contextsFile, readContexts } from "../target/contexts.ts";
import {
  configOptionsOf,
  localContext,
  selectedContext,
  type TargetOptions,
} from "../target/with-session.ts";
import { contextNoun, hostNoun } from "./completed-names.ts";

/** A shell must not wait for a gateway that does not answer. */
const timeoutMs = 1_000;

/** Other names would have to be quoted for the shell. */
const plainName = /^[\w./@%+,-]+$/;

const silent: Output = { out() {}, err() {} };

/**
 * Prints the names and ids of the resources that a noun's commands take, one a line. Prints nothing, and reports no error, when
 * the gateway does not answer in time.
 * @param words the words typed so far; only the flags that select the gateway are read
 */
export async function printNames(
  noun: string,
  nouns: Readonly<Record<string, LazyNoun>>,
  words: readonly string[],
  output: Output,
): Promise<ExitCode> {
  const late = new Promise<readonly string[]>((resolve) => setTimeout(resolve, timeoutMs, []).unref());
  const requested =
    noun === contextNoun
      ? contextNames()
      : resourceNames(nouns[noun], targetIn(words), noun === hostNoun ? [] : valuesOf("--host", words));
  const names = await Promise.race([requested.catch(() => []), late]);
  for (const name of names) {
    output.out(name);
  }
  return 0;
}

async function contextNames(): Promise<readonly string[]> {
  const { contexts } = await readContexts(contextsFile());
  return [localContext, ...Object.keys(contexts)];
}

/** @param host at most one: the host of the fleet that has the resources */
async function resourceNames(
  noun: LazyNoun | undefined,
  options: TargetOptions,
  [host]: readonly string[],
): Promise<readonly string[]> {
  const reference = (await noun?.load())?.reference;
  if (reference === undefined) {
    return [];
  }
  const list = async (session: Session) =>
    completionsOf(reference, host === undefined ? session : session.onHost(host));
  const remote = await selectedContext(options);
  if (remote !== undefined) {
    const { openRemoteSession } = await import("../target/remote-gateway.ts");
    return list((await openRemoteSession(remote)).session);
  }
  const [{ loadConfigOrExplain }, { withRunningGateway }] = await Promise.all([
    import("../config/config-options.ts"),
    import("../target/local-gateway.ts"),
  ]);
  const loaded = await loadConfigOrExplain(configOptionsOf(options), silent);
  const target = loaded && { config: loaded.config, isSandbox: options.sandbox === true };
  return (target && (await withRunningGateway(target, list))) ?? [];
}

/** Names where a resource has one, since people type those; otherwise ids. */
async function completionsOf(reference: Reference, session: Session): Promise<readonly string[]> {
  const all = await reference.list(session);
  const names = all.flatMap(({ id, names: given }) => (given.length === 0 ? [id] : given));
  return [...new Set(names)].filter((name) => plainName.test(name)).toSorted();
}

/** Returns the values of a flag in the forms `--data dir` and `--data=dir`. */
function valuesOf(flag: string, words: readonly string[]): readonly string[] {
  return words.flatMap((word, index) => {
    if (word.startsWith(`${flag}=`)) {
      return [word.slice(flag.length + 1)];
    }
    const next = words[index + 1];
    return word === flag && next !== undefined ? [next] : [];
  });
}

/** Reads the flags that select a gateway. */
function targetIn(words: readonly string[]): TargetOptions {
  const [config] = valuesOf("--config", words);
  const [data] = valuesOf("--data", words);
  const [context] = valuesOf("--context", words);
  const set = valuesOf("--set", words);
  return {
    ...(config === undefined ? {} : { config }),
    ...(data === undefined ? {} : { data }),
    ...(context === undefined ? {} : { context }),
    ...(set.length === 0 ? {} : { set }),
    ...(words.includes("--sandbox") ? { sandbox: true } : {}),
  };
}
