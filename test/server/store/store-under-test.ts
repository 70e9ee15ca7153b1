import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { openStore, type StoreOptions } from "../../../server/store/open-store.ts";
import { ownMigrations, type ProgramModules } from "../../../server/store/program.ts";
import type { Store } from "../../../server/store/store.ts";
import type { StoreLog } from "../../../server/store/store-log.ts";
import type { transactions } from "./test-transactions.ts";

export type TestStore = Store<typeof transactions>;

/** The gateway's migrations, with the transactions of the tests. */
export const testModules: ProgramModules = {
  migrations: ownMigrations,
  transactions: new URL("./test-transactions.ts", import.meta.url).href,
};

/** A log that keeps its lines. */
export interface KeptLog extends StoreLog {
  readonly lines: readonly string[];
}

export function keepLog(): KeptLog {
  const lines: string[] = [];
  const keep = (level: string) => (message: string, cause?: unknown) => {
    lines.push(`${level}: ${message}${cause instanceof Error ? ` | ${cause.stack}` : ""}`);
  };
  return { lines, info: keep("info"), warn: keep("warn"), fatal: keep("fatal") };
}

/** Opens a real store with the transactions of the tests; it is closed when the test ends. */
export async function openTestStore(t: Test, options: Partial<StoreOptions>): Promise<TestStore> {
  const store = await openStore<typeof transactions>({
    url: "sqlite",
    directory: "",
    kind: "real",
    keyCheck: "key-1",
    log: keepLog(),
    modules: testModules,
    ...options,
  });
  t.teardown(() => store.close());
  return store;
}

/** Opens such a store in a separate process, which must close it. */
export function openProcessStore(directory: string): Promise<TestStore> {
  const facts = { url: "sqlite", kind: "real", keyCheck: "k" } as const;
  return openStore<typeof transactions>({ ...facts, directory, log: keepLog(), modules: testModules });
}

/** Creates an empty directory that is removed when the test ends. */
export async function makeDirectory(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-store-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
