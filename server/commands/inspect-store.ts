import { accessSync, constants, existsSync } from "node:fs";
import type { Config } from "../config/schema.ts";
import { parseStoreAddress } from "../config/store-address.ts";
import { defaultKeyFile, loadMasterKey, type MasterKey } from "../crypto/master-key.ts";
import { adminSocketOf, shortSocketPath } from "../rpc/listener/admin-listener.ts";
import { assertDatabaseFacts, type DatabaseFacts } from "../store/database-facts.ts";
import { migrations } from "../store/migrations/migrations.ts";
import { databaseFile } from "../store/open-store.ts";
import { readStoreFacts } from "../store/read-store-facts.ts";
import type { Finding, Inspector } from "./inspection.ts";
import { messageFromError } from "./output.ts";
import { probeAddress } from "./probe-address.ts";

/**
 * The database, and whether the master key belongs to it.
 * @param environmentKey what HOSTPLANE_KEY holds
 */
export function createStoreInspector(
  config: Pick<Config, "data" | "store" | "keyFile">,
  environmentKey: string | undefined,
): Inspector {
  return {
    name: "store",
    async inspect() {
      let path: string;
      try {
        path = shortSocketPath(adminSocketOf(config.data));
      } catch (error) {
        return { findings: [{ ok: false, what: messageFromError(error), fix: "--data DIR" }] };
      }
      if ((await probeAddress({ kind: "unix", path }, false)) === "gateway") {
        // It has checked both when it started, and an SQLite file is its own.
        return { findings: [{ ok: true, what: `${nameOf(config)} is used by a running hostplane` }] };
      }
      try {
        assertReadable(config.data);
        const facts = await readStoreFacts(config.store, config.data);
        return { findings: [storeFinding(config, facts), keyFinding(config, environmentKey, facts)] };
      } catch (error) {
        const fix = "docs/upgrade.md says how to bring back a backup; is the address of `store` right?";
        return { findings: [{ ok: false, what: messageFromError(error), fix }] };
      }
    },
  };
}

function nameOf({ data, store }: Pick<Config, "data" | "store">): string {
  const address = parseStoreAddress(store);
  return typeof address === "object" && address.kind === "postgres" ? address.shownAs : databaseFile(data);
}

/** @throws Error when there is a directory that this user may not look into */
function assertReadable(data: string): void {
  if (existsSync(data)) {
    accessSync(data, constants.R_OK | constants.X_OK);
  }
}

function storeFinding(config: Pick<Config, "data" | "store">, facts: DatabaseFacts | undefined): Finding {
  if (facts === undefined) {
    return { ok: true, what: `there is nothing in ${nameOf(config)} yet: the first start makes it` };
  }
  // Whether the key fits is a finding of its own.
  const expected = { kind: "real", keyCheck: facts.keyCheck, createIfMissing: true } as const;
  try {
    assertDatabaseFacts(facts, { ...expected, shownAs: nameOf(config) }, migrations.length);
    return { ok: true, what: `${nameOf(config)} is there` };
  } catch (error) {
    const fix = "choose another data directory (--data DIR) or store, or the version that it belongs to";
    return { ok: false, what: messageFromError(error), fix };
  }
}

function keyFinding(
  { data, keyFile }: Pick<Config, "data" | "keyFile">,
  environmentKey: string | undefined,
  facts: DatabaseFacts | undefined,
): Finding {
  const defaultFile = defaultKeyFile(data);
  const isGiven = Boolean(environmentKey) || keyFile !== undefined;
  if (facts === undefined && !isGiven && !existsSync(defaultFile)) {
    return { ok: true, what: `there is no master key ${defaultFile} yet: the first start makes it` };
  }
  let key: MasterKey;
  try {
    key = loadMasterKey({ environmentKey, keyFile, defaultFile, isStoreNew: false });
  } catch (error) {
    const fix = "bring the key back from where it is kept apart from the store's backups";
    return { ok: false, what: messageFromError(error), fix };
  }
  if (facts !== undefined && facts.keyCheck !== key.fingerprint) {
    return {
      ok: false,
      what: `the master key ${key.source} is not the one that the store was made with`,
      fix: "bring back that key by HOSTPLANE_KEY, keyFile or the file `key` of the data directory",
    };
  }
  return { ok: true, what: `the master key ${key.source} ${facts === undefined ? "can be used" : "fits"}` };
}
