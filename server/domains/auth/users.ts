import { randomUUID } from "node:crypto";
import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import type { Caller, CallerRole } from "../../rpc/call/caller.ts";
import type { Store } from "../../store/store.ts";
import type { NewUser, UserChange, UserRecord, UserResult } from "../../store/user-record.ts";
import { assertUserName, certificateNamesFrom, serviceLimitFrom } from "./account-rules.ts";
import { assertPassword, hashPassword, verifyPassword } from "./password.ts";

/** Options of `createUsers`. */
export interface UsersOptions {
  readonly store: Pick<Store, "run">;
  /** Full names of the services of the contract. */
  readonly serviceNames: readonly string[];
  /** Updates the in-memory authentication state from the store, so that a read after a write sees the change. */
  readonly refresh: () => Promise<void>;
  readonly guardPassword: GuardPassword;
}

/**
 * Runs `verify`, which returns whether a password was right, and counts wrong ones as failed logins.
 * @throws InfraError TOO_MANY_LOGINS without running it
 */
export type GuardPassword = (
  login: { readonly name: string; readonly address: string },
  verify: () => Promise<boolean>,
) => Promise<boolean>;

/** A user to create, as requested. */
export interface WantedUser {
  readonly name: string;
  readonly role: CallerRole;
  /** Empty: the user can only use a certificate. */
  readonly password: string;
  readonly services: readonly string[];
  readonly certificateNames: readonly string[];
}

/** Changes to a user; undefined fields stay unchanged. */
export interface WantedUserChange {
  readonly role: CallerRole | undefined;
  /** Empty: all services. */
  readonly services: readonly string[] | undefined;
  readonly certificateNames: readonly string[] | undefined;
}

/** Users of the gateway. A change is effective on this gateway when its promise resolves, and soon after on others. */
export interface Users {
  /** Lists users by name. */
  list(): Promise<readonly UserRecord[]>;
  /** @throws InfraError INVALID_FIELD, USER_EXISTS, CERTIFICATE_NAME_TAKEN */
  create(wanted: WantedUser): Promise<UserRecord>;
  /** @throws InfraError INVALID_FIELD, USER_NOT_FOUND, LAST_ADMIN, CERTIFICATE_NAME_TAKEN */
  update(name: string, wanted: WantedUserChange): Promise<UserRecord>;
  /** @throws InfraError INVALID_FIELD, USER_NOT_FOUND, LAST_ADMIN */
  remove(name: string): Promise<void>;
  /** Sets a password and ends every login of the user. @throws InfraError INVALID_FIELD, USER_NOT_FOUND */
  setPassword(name: string, password: string): Promise<void>;
  /**
   * Changes the caller's own password, and ends every login except the session that changes it.
   * @throws InfraError INVALID_FIELD, INVALID_CREDENTIALS, TOO_MANY_LOGINS, USER_NOT_FOUND when the caller is not a user
   */
  changePassword(
    caller: Caller,
    passwords: { readonly current: string; readonly next: string },
    address: string,
  ): Promise<void>;
  /** Dry runs: each runs the checks of the method of the same name, and changes nothing. */
  readonly plan: {
    create(wanted: WantedUser): Promise<UserRecord>;
    update(name: string, wanted: WantedUserChange): Promise<UserRecord>;
    remove(name: string): Promise<UserRecord>;
    setPassword(name: string, password: string): Promise<UserRecord>;
  };
}

export function createUsers({ store, serviceNames, refresh, guardPassword }: UsersOptions): Users {
  /** Refreshes the authentication state, because the next call must see the change. */
  async function settled(result: UserResult, name: string): Promise<UserRecord> {
    const user = userFrom(result, name);
    await refresh();
    return user;
  }

  return {
    list: () => store.run("users.list", undefined),

    async create(wanted) {
      const user = newUserFrom(wanted, serviceNames);
      const passwordHash = wanted.password === "" ? null : await hashPassword(wanted.password);
      return settled(await store.run("users.create", { ...user, passwordHash }), wanted.name);
    },

    async update(name, wanted) {
      assertUserName(name);
      const change = userChangeFrom(wanted, serviceNames);
      return settled(await store.run("users.update", { name, change }), name);
    },

    async remove(name) {
      assertUserName(name);
      await settled(await store.run("users.remove", { name }), name);
    },

    async setPassword(name, password) {
      assertUserName(name);
      assertPassword(password, "password");
      const passwordHash = await hashPassword(password);
      await settled(await store.run("users.setPassword", { name, passwordHash }), name);
    },

    async changePassword(caller, { current, next }, address) {
      const name = userNameOf(caller);
      assertPassword(next, "new_password");
      const found = await store.run("users.passwordHash", { name });
      const hash = found ?? undefined;
      const isRight = await guardPassword({ name, address }, async () =>
        hash === undefined ? false : verifyPassword(hash, current),
      );
      if (!isRight) {
        throw new InfraError("INVALID_CREDENTIALS", "current_password is wrong");
      }
      const passwordHash = await hashPassword(next);
      const { sessionId: keptSession } = caller;
      const change = { name, passwordHash, ifHash: hash, keptSession };
      await settled(await store.run("users.setPassword", change), name);
    },

    plan: {
      async create(wanted) {
        const user = newUserFrom(wanted, serviceNames);
        const passwordHash = wanted.password === "" ? null : notHashed;
        const args = { ...user, passwordHash, dryRun: true };
        return userFrom(await store.run("users.create", args), wanted.name);
      },
      async update(name, wanted) {
        assertUserName(name);
        const change = userChangeFrom(wanted, serviceNames);
        return userFrom(await store.run("users.update", { name, change, dryRun: true }), name);
      },
      async remove(name) {
        assertUserName(name);
        return userFrom(await store.run("users.remove", { name, dryRun: true }), name);
      },
      async setPassword(name, password) {
        assertUserName(name);
        assertPassword(password, "password");
        const args = { name, passwordHash: notHashed, dryRun: true };
        return userFrom(await store.run("users.setPassword", args), name);
      },
    },
  };
}

/** Replaces the hash in dry runs: computing one takes a core for a while. */
const notHashed = "";

/** @throws InfraError INVALID_FIELD */
function newUserFrom(wanted: WantedUser, serviceNames: readonly string[]): Omit<NewUser, "passwordHash"> {
  const { name, role, password } = wanted;
  assertUserName(name);
  const services = serviceLimitFrom(wanted.services, serviceNames);
  const certificateNames = certificateNamesFrom(wanted.certificateNames);
  if (password !== "") {
    assertPassword(password, "password");
  } else if (certificateNames.length === 0) {
    throw invalidField("password", "must be set, unless certificate_names is set");
  }
  return { id: randomUUID(), name, role, services, certificateNames };
}

/** @throws InfraError INVALID_FIELD */
function userChangeFrom(wanted: WantedUserChange, serviceNames: readonly string[]): UserChange {
  const { role, services, certificateNames } = wanted;
  return {
    role,
    services: services === undefined ? undefined : serviceLimitFrom(services, serviceNames),
    certificateNames: certificateNames === undefined ? undefined : certificateNamesFrom(certificateNames),
  };
}

function userNameOf({ actor }: Caller): string {
  const [, name] = /^user\/(.*)$/.exec(actor) ?? [];
  if (name === undefined) {
    throw new InfraError("USER_NOT_FOUND", `${actor} is not a user and has no password`);
  }
  return name;
}

/** @throws InfraError USER_NOT_FOUND, USER_EXISTS, LAST_ADMIN, CERTIFICATE_NAME_TAKEN, INVALID_CREDENTIALS */
function userFrom(result: UserResult, name: string): UserRecord {
  if (result.ok) {
    return result.user;
  }
  const resource = `users/${name}`;
  switch (result.why) {
    case "notFound":
      throw new InfraError("USER_NOT_FOUND", `user ${JSON.stringify(name)} not found`, { resource });
    case "exists":
      throw new InfraError("USER_EXISTS", `user ${name} already exists`, { resource });
    case "lastAdmin":
      throw new InfraError(
        "LAST_ADMIN",
        `${name} is the last admin with access to all services who can log in; create another one first`,
        { resource },
      );
    case "certificateNameTaken":
      throw new InfraError(
        "CERTIFICATE_NAME_TAKEN",
        `another user has the certificate name ${result.certificateName}`,
        { resource },
      );
    case "passwordChanged":
      throw new InfraError(
        "INVALID_CREDENTIALS",
        "the password was changed by another request at the same time",
        {
          resource,
        },
      );
  }
}
