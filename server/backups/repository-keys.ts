import { randomBytes } from "node:crypto";
import { InfraError } from "../../adapters/host/infra-error.ts";
import { resticReasons } from "../../adapters/restic/reasons.ts";
import type { Seal } from "../crypto/seal.ts";
import type { Store } from "../store/store.ts";
import type { ExportedKey } from "./exported-keys.ts";
import { describePlace, type RepositoryPlace } from "./repository-place.ts";
import type { RepositoryKeyRow } from "./store/repository-keys.ts";

/** Keys that the gateway creates for repositories whose users give none; the store has them encrypted. */
export interface RepositoryKeys {
  /** Returns the name of a repository's key; creates the key if there is none. */
  ensure(place: RepositoryPlace): Promise<string>;
  /**
   * Returns the name of a repository's key.
   * @throws InfraError REPOSITORY_KEY_WRONG when it has none
   */
  find(place: RepositoryPlace): Promise<string>;
  /** Returns a key. @throws InfraError REPOSITORY_KEY_WRONG when there is no key of this name */
  open(name: string): Promise<string>;
  /** Returns all keys, by repository. */
  all(): Promise<readonly ExportedKey[]>;
}

/** 256 bits, the length of the keys that restic derives from it. */
const keyBytes = 32;

/** @param seal has the purpose `repository-key` */
export function createRepositoryKeys(store: Pick<Store, "run">, seal: Seal): RepositoryKeys {
  const opened = ({ name, secret_sealed }: RepositoryKeyRow) =>
    Buffer.from(seal.open(new Uint8Array(secret_sealed), name)).toString("utf8");

  return {
    async ensure(place) {
      const repository = describePlace(place);
      const existing = await store.run("repositoryKeys.get", { repository });
      if (existing !== undefined) {
        return existing.name;
      }
      const name = `key-${randomBytes(6).toString("hex")}`;
      const secret = Buffer.from(randomBytes(keyBytes).toString("base64url"));
      const secretSealed = seal.seal(secret, name);
      return (await store.run("repositoryKeys.make", { name, repository, secretSealed })).name;
    },

    async find(place) {
      const repository = describePlace(place);
      const row = await store.run("repositoryKeys.get", { repository });
      if (row === undefined) {
        throw new InfraError(
          resticReasons.REPOSITORY_KEY_WRONG,
          `this gateway has no key for ${repository}: set encryption_key to the key that its backups were created with`,
        );
      }
      return row.name;
    },

    async open(name) {
      const row = await store.run("repositoryKeys.get", { name });
      if (row === undefined) {
        throw new InfraError(resticReasons.REPOSITORY_KEY_WRONG, `the store no longer has the key ${name}`);
      }
      return opened(row);
    },

    async all() {
      const rows = await store.run("repositoryKeys.list", undefined);
      return rows.map((row) => ({ repository: row.repository, name: row.name, key: opened(row) }));
    },
  };
}
