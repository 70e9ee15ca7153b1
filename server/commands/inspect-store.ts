import { accessSync, constants, existsSync, statSync } from "node:fs";
import { get } from "node:http";
import type { Config } from "../config/schema.ts";
import { parseStoreAddress } from "../config/store-address.ts";
import { defaultKeyFile, forbiddenKeyModes, loadMasterKey, type MasterKey } from "../crypto/master-key.ts";
import { adminSocketOf, shortSocketPath } from "../rpc/listener/admin-listener.ts";
import { assertDatabaseFacts, type DatabaseFacts } from "../store/database-facts.ts";
import { describeDisk, isFull, isNearlyFull, readDiskSpace } from "../store/disk-space.ts";
import { migrations } from "../store/migrations/migrations.ts";
import { databaseFile } from "../store/open-store.ts";
import { readStoreFacts } from "../store/read-store-facts.ts";
import type { Finding, Inspector } from "./inspection.ts";
import { messageFromError } from "./output.ts";
import { permissionFix } from "./permission-fix.ts";
import { probeAddress } from "./probe-address.ts";

const readinessTimeoutMs = 5_000;

/**
 * Checks the database, whether it is writable, and whether the master key belongs to it.
 * @param environmentKey value of HOSTPLANE_KEY
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
        // The running gateway checked both at its start, and it has exclusive access to an SQLite file.
        const used = { ok: true, what: `${nameOf(config)} is used by a running hostplane` };
        return {
          findings: [(await isWritten(path)) ? used : unwritable(config), ...(await diskFindings(config))],
        };
      }
      try {
        assertReadable(config);
        const facts = await readStoreFacts(config.store, config.data);
        return {
          findings: [
            storeFinding(config, facts),
            keyFinding(config, environmentKey, facts),
            ...(await diskFindings(config)),
          ],
        };
      } catch (error) {
        const restore = "docs/upgrade.md says how to bring back a backup; is the address of `store` right?";
        const fix = permissionFix(error) ?? restore;
        return { findings: [{ ok: false, what: messageFromError(error), fix }] };
      }
    },
  };
}

function nameOf({ data, store }: Pick<Config, "data" | "store">): string {
  const address = parseStoreAddress(store);
  return typeof address === "object" && address.kind === "postgres" ? address.shownAs : databaseFile(data);
}

/** Reports whether the running gateway is ready: its store responds and is writable. */
function isWritten(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    get({ socketPath, path: "/readiness", agent: false, timeout: readinessTimeoutMs }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    })
      .once("timeout", () => resolve(false))
      .once("error", () => resolve(false));
  });
}

function unwritable(config: Pick<Config, "data" | "store">): Finding {
  return {
    ok: false,
    what: `the running hostplane cannot write ${nameOf(config)}, or is stopping: it refuses changes`,
    fix: "read its log, which has the reason once a minute; `hostplane_store_writable` of its metrics is 1 again then",
  };
}

/** Returns no findings while there is enough space. */
async function diskFindings({ data, store }: Pick<Config, "data" | "store">): Promise<Finding[]> {
  if (store !== "sqlite" || !existsSync(data)) {
    return [];
  }
  const disk = await readDiskSpace(data);
  if (!isNearlyFull(disk) && !isFull(disk)) {
    return [];
  }
  const what = `the disk of ${data} is ${describeDisk(disk)}`;
  return [
    { ok: false, what, fix: "make room there, or make it larger: a gateway without room refuses changes" },
  ];
}

/** Checks read permission. @throws Error when this user may not read the data directory or the database file in it */
function assertReadable({ data, store }: Pick<Config, "data" | "store">): void {
  if (existsSync(data)) {
    accessSync(data, constants.R_OK | constants.X_OK);
  }
  if (store === "sqlite" && existsSync(databaseFile(data))) {
    accessSync(databaseFile(data), constants.R_OK);
  }
}

function storeFinding(config: Pick<Config, "data" | "store">, facts: DatabaseFacts | undefined): Finding {
  if (facts === undefined) {
    return { ok: true, what: `there is nothing in ${nameOf(config)} yet: the first start makes it` };
  }
  // The master key has a finding of its own.
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
    const file = keyFile ?? defaultFile;
    const bringBack = "bring the key back from where it is kept apart from the store's backups";
    const fix = permissionFix(error) ?? (isOpenToOthers(file) ? `chmod 600 ${file}` : bringBack);
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

/** Reports whether the master key is rejected because other users can read or change its file. */
function isOpenToOthers(file: string): boolean {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & forbiddenKeyModes) !== 0;
}
