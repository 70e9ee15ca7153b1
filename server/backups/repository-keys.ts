import { randomBytes } from "node:crypto";
import { InfraError } from "../../adapters/host/infra-error.ts";
import type { Seal } from "../crypto/seal.ts";
import type { Store } from "../store/store.ts";
import { describePlace, type RepositoryPlace } from "./repository-place.ts";

/** Keys that the gateway makes for repositories whose owner gives none; the store has them encrypted. */
export interface RepositoryKeys {
  /** Name of the key of a repository, which is made unless there is one. */
  ensure(place: RepositoryPlace): Promise<string>;
  /**
   * Name of the key that was made for a repository.
   * @throws InfraError REPOSITORY_KEY_WRONG when none was
   */
  find(place: RepositoryPlace): Promise<string>;
  /** The key itself. @throws InfraError REPOSITORY_KEY_WRONG when there is none of this name */
  open(name: string): Promise<string>;
}

/** 256 bits, as many as the keys that restic derives from it have. */
const keyBytes = 32;

/** @param seal for the purpose `repository-key` */
export function createRepositoryKeys(store: Pick<Store, "run">, seal: Seal): RepositoryKeys {
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
          "REPOSITORY_KEY_WRONG",
          `this gateway has made no key for ${repository}: give the encryption_key that its backups were made with`,
        );
      }
      return row.name;
    },

    async open(name) {
      const row = await store.run("repositoryKeys.get", { name });
      if (row === undefined) {
        throw new InfraError("REPOSITORY_KEY_WRONG", `the store has no key ${name} any more`);
      }
      return Buffer.from(seal.open(new Uint8Array(row.secret_sealed), name)).toString("utf8");
    },
  };
}
