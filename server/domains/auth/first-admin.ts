import { randomBytes, randomUUID } from "node:crypto";
import type { Store } from "../../store/store.ts";
import { assertPassword, hashPassword } from "./password.ts";

/** What `ensureFirstAdmin` needs. */
export interface FirstAdminOptions {
  readonly store: Pick<Store, "run">;
  /** What HOSTPLANE_ADMIN_PASSWORD holds; one is made up when it is absent or empty. */
  readonly password: string | undefined;
  /**
   * Keeps a password that was made up where the operator finds it; awaited before the user is stored, so that no
   * password is ever lost with the process.
   */
  readonly keepPassword: (password: string) => Promise<void>;
  /** Forgets it again, when another gateway has made the user in the meantime. */
  readonly dropPassword: () => Promise<void>;
}

/** The first admin that was made just now. */
export interface FirstAdmin {
  readonly name: string;
  /** Undefined when it was given. */
  readonly madeUpPassword: string | undefined;
}

export const firstAdminName = "admin";

/** A first admin whose password is hashed, and who is not in the store yet. */
export interface PreparedAdmin {
  /** Stores the user; undefined when another gateway was first. */
  make(): Promise<FirstAdmin | undefined>;
}

/** The same in one go: `prepareFirstAdmin` and `make`. */
export async function ensureFirstAdmin(options: FirstAdminOptions): Promise<FirstAdmin | undefined> {
  return (await prepareFirstAdmin(options))?.make();
}

/**
 * Prepares the user `admin` if there has never been a user; undefined if there has. Of two gateways that start at once
 * on one database, one makes it.
 * @throws InfraError INVALID_FIELD when the given password is too short or too long
 */
export async function prepareFirstAdmin(options: FirstAdminOptions): Promise<PreparedAdmin | undefined> {
  const { store, keepPassword, dropPassword } = options;
  if (!(await store.run("users.isFirstStart", undefined))) {
    return undefined;
  }
  const given = options.password === "" ? undefined : options.password;
  const password = given ?? randomBytes(18).toString("base64url");
  assertPassword(password, "HOSTPLANE_ADMIN_PASSWORD");
  const passwordHash = await hashPassword(password);
  return {
    async make() {
      if (given === undefined) {
        await keepPassword(password);
      }
      const user = {
        id: randomUUID(),
        name: firstAdminName,
        role: "admin",
        services: null,
        passwordHash,
        certificateNames: [],
      };
      const made = await store.run("users.createFirst", user);
      if (!made.ok && given === undefined) {
        await dropPassword();
      }
      return made.ok
        ? { name: firstAdminName, madeUpPassword: given === undefined ? password : undefined }
        : undefined;
    },
  };
}
