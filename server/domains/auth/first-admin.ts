import { randomBytes, randomUUID } from "node:crypto";
import type { Store } from "../../store/store.ts";
import { assertPassword, hashPassword } from "./password.ts";

/** Options of `prepareFirstAdmin`. */
export interface FirstAdminOptions {
  readonly store: Pick<Store, "run">;
  /** Value of HOSTPLANE_ADMIN_PASSWORD; a password is generated when it is absent or empty. */
  readonly password: string | undefined;
  /**
   * Stores a generated password where the operator finds it. Awaited before the user is stored, so that the password cannot be
   * lost with the process.
   */
  readonly keepPassword: (password: string) => Promise<void>;
  /** Deletes that password, when another gateway has created the user in the meantime. */
  readonly dropPassword: () => Promise<void>;
}

/** The first admin, created by this gateway. */
export interface FirstAdmin {
  readonly name: string;
  /** Undefined when the password was given. */
  readonly generatedPassword: string | undefined;
}

export const firstAdminName = "admin";

/** A first admin with a hashed password that is not in the store yet. */
export interface PreparedAdmin {
  /** Stores the user; undefined when another gateway was first. */
  make(): Promise<FirstAdmin | undefined>;
}

/**
 * Prepares the user `admin` if there has never been a user; else returns undefined. If two gateways start at once on one
 * database, one of them creates it.
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
      const created = await store.run("users.createFirst", user);
      if (!created.ok && given === undefined) {
        await dropPassword();
      }
      return created.ok
        ? { name: firstAdminName, generatedPassword: given === undefined ? password : undefined }
        : undefined;
    },
  };
}
