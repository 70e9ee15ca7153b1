import { accessSync, constants, existsSync, statSync } from "node:fs";
import { get } from "node:http";
import { parseStoreAddress } from "../../config/store-address.ts";
import { defaultKeyFile, forbiddenKeyModes } from "../../crypto/key-file.ts";
import { loadMasterKeys, type MasterKeys } from "../../crypto/master-keys.ts";
import type { Finding, Inspector } from "../../domain/inspection.ts";
import { messageFromError } from "../../domain/message-from-error.ts";
import type { Config } from "../../gateway/config/schema.ts";
import { adminSocketOf, shortSocketPath } from "../../rpc/listener/admin-listener.ts";
import { assertDatabaseFacts, assertMasterKeys, type DatabaseFacts } from "../../store/database-facts.ts";
import { describeDisk, isFull, isNearlyFull, readDiskSpace } from "../../store/disk-space.ts";
import { migrations } from "../../store/migrations/migrations.ts";
import { databaseFile } from "../../store/open-store.ts";
import { readStoreFacts } from "../../store/read-store-facts.ts";
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
        const used = { ok: true, what: `${nameOf(config)} is in use by a running hostplane` };
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
        const restore = "check the address in `store`; to restore a backup see docs/how-to/upgrade.md";
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
    fix: "see its log, which repeats the reason once a minute; the metric `hostplane_store_writable` returns to 1 once fixed",
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
    {
      ok: false,
      what,
      fix: "free space there or enlarge the disk: the gateway refuses changes when it is full",
    },
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
    return { ok: true, what: `${nameOf(config)} does not exist yet: the first start creates it` };
  }
  // The master key has a finding of its own.
  const keys = { keyCheck: facts.keyCheck, otherKeyChecks: facts.oldKeyChecks };
  const expected = { kind: "real", ...keys, createIfMissing: true } as const;
  try {
    assertDatabaseFacts(facts, { ...expected, shownAs: nameOf(config) }, migrations.length);
    return { ok: true, what: `${nameOf(config)} found` };
  } catch (error) {
    const fix =
      "choose another data directory (--data DIR) or store, or run the hostplane version that it belongs to";
    return { ok: false, what: messageFromError(error), fix };
  }
}

function keyFinding(
  config: Pick<Config, "data" | "store" | "keyFile">,
  environmentKey: string | undefined,
  facts: DatabaseFacts | undefined,
): Finding {
  const { keyFile } = config;
  const defaultFile = defaultKeyFile(config.data);
  const isGiven = Boolean(environmentKey) || keyFile !== undefined;
  if (facts === undefined && !isGiven && !existsSync(defaultFile)) {
    return { ok: true, what: `master key ${defaultFile} does not exist yet: the first start creates it` };
  }
  let keys: MasterKeys;
  try {
    keys = loadMasterKeys({ environmentKey, keyFile, defaultFile, isStoreNew: false });
  } catch (error) {
    const file = keyFile ?? defaultFile;
    const bringBack = "restore the key from its own backup (it is not part of the store's backups)";
    const fix = permissionFix(error) ?? (isOpenToOthers(file) ? `chmod 600 ${file}` : bringBack);
    return { ok: false, what: messageFromError(error), fix };
  }
  if (facts !== undefined) {
    try {
      const [keyCheck = "", ...otherKeyChecks] = keys.fingerprints;
      assertMasterKeys(facts, { keyCheck, otherKeyChecks, shownAs: nameOf(config) });
    } catch (error) {
      return {
        ok: false,
        what: `the master key ${keys.source} does not match the store: ${messageFromError(error)}`,
        fix: "provide the original key with HOSTPLANE_KEY, keyFile or the file `key` in the data directory",
      };
    }
  }
  return {
    ok: true,
    what: `the master key ${keys.source} ${facts === undefined ? "is usable" : "matches the store"}`,
  };
}

/** Reports whether the master key is rejected because other users can read or change its file. */
function isOpenToOthers(file: string): boolean {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & forbiddenKeyModes) !== 0;
}
