import { randomBytes } from "node:crypto";
import type { Test } from "tap";
import { type MasterKeys, masterKeysFromText } from "../../../server/crypto/master-keys.ts";
import { createSeal, keyOfSealed } from "../../../server/crypto/seal.ts";
import {
  type KeyChanges,
  type KeyChangesOptions,
  openKeyChanges,
} from "../../../server/master-key/key-changes.ts";
import { type SealedColumn, sealedColumns } from "../../../server/master-key/sealed-columns.ts";
import { openStore, type StoreOptions } from "../../../server/store/open-store.ts";
import { ownMigrations } from "../../../server/store/program.ts";
import type { Store } from "../../../server/store/store.ts";
import { until } from "../harness/until.ts";
import { keepLog } from "../store/store-under-test.ts";
import type { transactions } from "./key-test-transactions.ts";

export type KeyStore = Store<typeof transactions>;

export const newKey = () => randomBytes(32).toString("base64");

/** Keys of a text that a test can replace, as those of a file. */
export function keysOf(...lines: readonly string[]): MasterKeys {
  return masterKeysFromText(lines.join("\n"), "/etc/hostplane/key");
}

export function fingerprintOf(key: string): string {
  return keysOf(key).current.fingerprint;
}

/** Opens a store that is created with a key; it is closed when the test ends. */
export async function openKeyStore(
  t: Test,
  key: string,
  place: Pick<StoreOptions, "url" | "directory">,
  migrations = ownMigrations,
): Promise<KeyStore> {
  const store = await openStore<typeof transactions>({
    ...place,
    kind: "real",
    keyCheck: fingerprintOf(key),
    log: keepLog(),
    modules: { migrations, transactions: new URL("./key-test-transactions.ts", import.meta.url).href },
  });
  t.teardown(() => store.close());
  return store;
}

/** More than one batch has. */
const rowsOfFirstColumn = 23;

/** Fills every column with secrets, the first one with several batches. Returns how many there are. */
export async function fillWithSecrets(
  store: KeyStore,
  keys: MasterKeys,
  columns = sealedColumns,
): Promise<number> {
  let count = 0;
  for (const [index, column] of columns.entries()) {
    // A fleet has one authority, and a gateway one membership.
    const rows = column.table.startsWith("fleet_") ? 1 : index === 0 ? rowsOfFirstColumn : 2;
    for (let row = 1; row <= rows; row += 1) {
      await insertSecret(store, keys, column, row);
      count += 1;
    }
  }
  return count;
}

/** Inserts a row with a secret that is the row's name. Columns that must differ between rows get that name too. */
export async function insertSecret(store: KeyStore, keys: MasterKeys, column: SealedColumn, row: number) {
  const name = `row ${String(row).padStart(3, "0")}`;
  const isNumbered = column.table.startsWith("fleet_");
  const key = Object.fromEntries(
    column.keyColumns.map((each) => [
      each,
      each === "key_hash" ? new Uint8Array(Buffer.from(name)) : isNumbered ? row : name,
    ]),
  );
  const context = column.context(key);
  const sealed = createSeal(keys, column.purpose).seal(secretOf(column, context), context);
  const unique = { clusters: { name }, repository_keys: { repository: name } }[column.table] ?? {};
  await store.run("test.insert", {
    table: column.table,
    row: { ...unique, ...key, [column.column]: sealed },
  });
}

function secretOf({ table }: SealedColumn, context: string): Uint8Array {
  return Buffer.from(`the secret of ${table} ${context}`);
}

/** Asserts that every secret is encrypted with one key, and is what it was. */
export async function assertOnlyNeeds(t: Test, store: KeyStore, key: string, count: number): Promise<void> {
  const only = keysOf(key);
  const wrong: string[] = [];
  let seen = 0;
  for (const column of sealedColumns) {
    const seal = createSeal(only, column.purpose);
    const { table, keyColumns } = column;
    const rows = await store.run("test.secrets", { table, column: column.column, keyColumns });
    for (const { key: rowKey, sealed } of rows) {
      seen += 1;
      const context = column.context(rowKey);
      const isRight =
        keyOfSealed(sealed) === only.current.fingerprint &&
        Buffer.from(seal.open(sealed, context)).equals(secretOf(column, context));
      wrong.push(...(isRight ? [] : [`${column.table} ${context}`]));
    }
  }
  t.same(wrong, [], "all secrets are encrypted with the new key, and are what they were");
  t.equal(seen, count, "none is lost");
}

/** Times that no test has to wait for. A killed gateway counts as gone soon. */
const quickTimes = { renewMs: 50, silentMs: 100, settleMs: 0, patienceMs: 10_000 };

/** The key changes of one gateway, with its log. */
export interface KeyChangesUnderTest extends KeyChanges {
  readonly lines: readonly string[];
  /** Errors for which the gateway would exit. */
  readonly lost: readonly Error[];
}

/** Opens the key changes of a gateway, and begins its work; the test closes them, unless the gateway is killed. */
export async function openUnderTest(
  store: KeyChangesOptions["store"],
  masterKeys: MasterKeys,
  options: Partial<KeyChangesOptions> = {},
): Promise<KeyChangesUnderTest> {
  const log = keepLog();
  const lost: Error[] = [];
  const opened = await openKeyChanges({
    store,
    masterKeys,
    host: "host-1",
    shownAs: "the database",
    log,
    onLost: (error) => lost.push(error),
    ...options,
    times: { ...quickTimes, ...options.times },
  });
  opened.begin();
  return { ...opened, lines: log.lines, lost };
}

/** Waits until no replaced key is needed. */
export async function untilChanged(changes: Pick<KeyChanges, "status">): Promise<void> {
  await until(async () => (await changes.status()).old.length === 0);
}
