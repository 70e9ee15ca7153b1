import { makeKeyFile, readKeyFile } from "./key-file.ts";
import { type MasterKey, masterKeyFromText } from "./master-key.ts";

/**
 * The master keys that a gateway has. One of them is in use: new secrets are encrypted with it. The others decrypt what has not
 * yet been encrypted again after a change, or are the next one.
 */
export interface MasterKeys {
  /** Where the keys come from, for people: a path, or `HOSTPLANE_KEY`. */
  readonly source: string;
  /** The key in use. Before the store is opened, it is the newest one. */
  readonly current: MasterKey;
  /** The last key of the source: a new store is created with it, and a change leads to it. */
  readonly newest: MasterKey;
  readonly fingerprints: readonly string[];
  find(fingerprint: string): MasterKey | undefined;
  /** Puts a key into use. @throws Error when it is not among the keys */
  use(fingerprint: string): void;
  /** Reads the source again. Keys that it no longer has stay known until the end of the process. @throws as `loadMasterKeys` */
  reload(): void;
}

export interface MasterKeysOptions {
  /** Value of the variable HOSTPLANE_KEY. */
  readonly environmentKey: string | undefined;
  /** Configured key file. It must exist. */
  readonly keyFile: string | undefined;
  /** Key file if none is configured. It is created if the store is new. */
  readonly defaultFile: string;
  /** Whether the store is new. For an existing store a new key would be useless, and would hide that the right one is lost. */
  readonly isStoreNew: boolean;
}

/**
 * Loads the master keys from the variable, else from the configured file, else from the default file.
 * @throws Error with the fix when there is none, when one is not 32 bytes in base64 or is repeated, or when others may read them
 */
export function loadMasterKeys(options: MasterKeysOptions): MasterKeys {
  const { environmentKey, keyFile, defaultFile, isStoreNew } = options;
  if (environmentKey !== undefined && environmentKey !== "") {
    return masterKeysFromText(environmentKey, "HOSTPLANE_KEY");
  }
  if (keyFile !== undefined) {
    return createMasterKeys(keyFile, () => {
      const text = readKeyFile(keyFile);
      if (text === undefined) {
        throw new Error(`the key file ${keyFile} does not exist`);
      }
      return text;
    });
  }
  if (isStoreNew && readKeyFile(defaultFile) === undefined) {
    makeKeyFile(defaultFile);
  }
  return createMasterKeys(defaultFile, () => {
    const text = readKeyFile(defaultFile);
    if (text === undefined) {
      throw new Error(
        `the master key ${defaultFile} is missing, and the store has secrets that only this key decrypts: restore it, or set HOSTPLANE_KEY or keyFile`,
      );
    }
    return text;
  });
}

/** Returns the keys of a text, separated by white space. @throws as `parseMasterKeys` */
export function masterKeysFromText(text: string, source: string): MasterKeys {
  return createMasterKeys(source, () => text);
}

function createMasterKeys(source: string, read: () => string): MasterKeys {
  const known = new Map<string, MasterKey>();
  let newest = load();
  let current = newest;

  function load(): MasterKey {
    const { keys, last } = parseMasterKeys(read(), source);
    for (const key of keys) {
      known.set(key.fingerprint, key);
    }
    return last;
  }

  return {
    source,
    get current() {
      return current;
    },
    get newest() {
      return newest;
    },
    get fingerprints() {
      return [...known.keys()];
    },
    find: (fingerprint) => known.get(fingerprint),
    use(fingerprint) {
      const key = known.get(fingerprint);
      if (key === undefined) {
        throw new Error(`${source} does not have the master key ${fingerprint}`);
      }
      current = key;
    },
    reload() {
      newest = load();
    },
  };
}

/**
 * Parses master keys, separated by white space.
 * @throws Error when there is none, or when one is invalid or repeated; the message names the line and repeats no key
 */
function parseMasterKeys(
  text: string,
  source: string,
): { readonly keys: readonly MasterKey[]; readonly last: MasterKey } {
  const lines = text
    .split("\n")
    .flatMap((line, index) => (line.match(/\S+/g) ?? []).map((word) => ({ text: word, number: index + 1 })));
  const isSingle = lines.length === 1;
  const lineOf = new Map<string, number>();
  const keys = lines.map((line) => {
    const key = masterKeyFromText(line.text, isSingle ? source : `${source}, line ${line.number}`);
    const earlier = lineOf.get(key.fingerprint);
    if (earlier !== undefined) {
      throw new Error(
        `${source}, line ${line.number}: repeats the key of line ${earlier}: remove one of them`,
      );
    }
    lineOf.set(key.fingerprint, line.number);
    return key;
  });
  // Without a line, this explains what is expected.
  return { keys, last: keys.at(-1) ?? masterKeyFromText("", source) };
}
