import { randomUUID } from "node:crypto";
import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import type { CallerRole } from "../../rpc/access/caller-role.ts";
import type { Caller } from "../../rpc/call/caller.ts";
import { recordChanged } from "../../store/record-changed.ts";
import type { Store } from "../../store/store.ts";
import type { ChangeMode, DryRun } from "../../store/transaction.ts";
import { type AccountAccess, accessFrom, type KnownMethods } from "./access/account-grants.ts";
import {
  assertAnyUserName,
  assertUserName,
  certificateNamesFrom,
  serviceLimitFrom,
} from "./access/account-rules.ts";
import { assertPassword, hashPassword, verifyPassword } from "./password.ts";
import { authReasons } from "./reasons.ts";
import type { EndedProviderSession } from "./store/sessions.ts";
import type { NewUser, UserChange, UserRecord, UserResult } from "./store/user-record.ts";

/** Options of `createUsers`. */
export interface UsersOptions {
  readonly store: Pick<Store, "run">;
  /** The services and methods of the contract. */
  readonly known: KnownMethods;
  /** Updates the in-memory authentication state from the store, so that a read after a write sees the change. */
  readonly refresh: () => Promise<void>;
  readonly guardPassword: GuardPassword;
  /** Begins to revoke the refresh tokens of ended sessions at their providers. */
  readonly revokeTokens: (ended: readonly EndedProviderSession[]) => void;
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
export interface RequestedUser {
  readonly name: string;
  /** Undefined: `grants` decide. */
  readonly role: CallerRole | undefined;
  /** Empty: the user can only use a certificate. */
  readonly password: string;
  readonly services: readonly string[];
  /** Empty or absent: `role` and `services` decide. */
  readonly grants?: readonly unknown[];
  readonly certificateNames: readonly string[];
}

/** Changes to a user; undefined fields stay unchanged. */
export interface RequestedUserChange {
  readonly role: CallerRole | undefined;
  /** Empty: all services. */
  readonly services: readonly string[] | undefined;
  /** Empty: removes them. */
  readonly grants?: readonly unknown[] | undefined;
  readonly certificateNames: readonly string[] | undefined;
}

/**
 * Users of the gateway. A change is effective on this gateway when its promise resolves, and soon after on others. A dry run
 * checks everything and changes nothing. With `since`, changes also throw InfraError RECORD_CHANGED.
 */
export interface Users {
  /** Lists users by name. */
  list(): Promise<readonly UserRecord[]>;
  /** @throws InfraError INVALID_FIELD, USER_EXISTS, CERTIFICATE_NAME_TAKEN */
  create(requested: RequestedUser, how?: DryRun): Promise<UserRecord>;
  /** @throws InfraError INVALID_FIELD, USER_NOT_FOUND, USER_HAS_GRANTS, USER_OF_PROVIDER, LAST_ADMIN, CERTIFICATE_NAME_TAKEN */
  update(name: string, requested: RequestedUserChange, how?: ChangeMode<UserRecord>): Promise<UserRecord>;
  /** @throws InfraError INVALID_FIELD, USER_NOT_FOUND, LAST_ADMIN */
  remove(name: string, how?: ChangeMode<UserRecord>): Promise<UserRecord>;
  /** Sets a password and ends every login of the user. @throws InfraError INVALID_FIELD, USER_NOT_FOUND, USER_OF_PROVIDER */
  setPassword(name: string, password: string, how?: ChangeMode<UserRecord>): Promise<UserRecord>;
  /**
   * Changes the caller's own password, and ends every login except the session that changes it.
   * @throws InfraError INVALID_FIELD, INVALID_CREDENTIALS, TOO_MANY_LOGINS, USER_NOT_FOUND when the caller is not a user
   */
  changePassword(
    caller: Caller,
    passwords: { readonly current: string; readonly next: string },
    address: string,
  ): Promise<void>;
}

/** @param options `known`: the services and methods that users may be limited to */
export function createUsers({ store, known, refresh, guardPassword, revokeTokens }: UsersOptions): Users {
  /** Refreshes the authentication state after a change, because the next call must see it. */
  async function settled(
    result: UserResult,
    name: string,
    { dryRun = false }: DryRun = {},
  ): Promise<UserRecord> {
    const user = userFrom(result, name);
    if (!dryRun) {
      await refresh();
    }
    return user;
  }

  return {
    list: () => store.run("users.list", undefined),

    async create(requested, how = {}) {
      const user = checkedUser(requested, known);
      const passwordHash = requested.password === "" ? null : await hashFor(requested.password, how);
      const result = await store.run("users.create", { ...user, passwordHash, ...how });
      return settled(result, requested.name, how);
    },

    async update(name, requested, how = {}) {
      assertAnyUserName(name);
      const change = checkedChange(requested, known);
      return settled(await store.run("users.update", { name, change, ...how }), name, how);
    },

    async remove(name, how = {}) {
      assertAnyUserName(name);
      const result = await store.run("users.remove", { name, ...how });
      if (result.ok) {
        revokeTokens(result.ended);
      }
      return settled(result, name, how);
    },

    async setPassword(name, password, how = {}) {
      assertAnyUserName(name);
      assertPassword(password, "password");
      const passwordHash = await hashFor(password, how);
      return settled(await store.run("users.setPassword", { name, passwordHash, ...how }), name, how);
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
        throw new InfraError(authReasons.INVALID_CREDENTIALS, "current_password is wrong");
      }
      const passwordHash = await hashPassword(next);
      const { sessionId: keptSession } = caller;
      const change = { name, passwordHash, ifHash: hash, keptSession };
      await settled(await store.run("users.setPassword", change), name);
    },
  };
}

/** Hashes a password. A dry run does not, since that takes a core for a while. */
async function hashFor(password: string, { dryRun = false }: DryRun): Promise<string> {
  return dryRun ? "" : hashPassword(password);
}

/** @throws InfraError INVALID_FIELD */
function checkedUser(requested: RequestedUser, known: KnownMethods): Omit<NewUser, "passwordHash"> {
  const { name, password } = requested;
  assertUserName(name);
  const access = accessFrom(requested, known);
  const certificateNames = certificateNamesFrom(requested.certificateNames);
  if (password !== "") {
    assertPassword(password, "password");
  } else if (certificateNames.length === 0) {
    throw invalidField("password", "must be set, unless certificate_names is set");
  }
  return { id: randomUUID(), name, ...access, certificateNames };
}

/** @throws InfraError INVALID_FIELD */
function checkedChange(requested: RequestedUserChange, known: KnownMethods): UserChange {
  const { certificateNames } = requested;
  return {
    ...changedAccess(requested, known),
    certificateNames: certificateNames === undefined ? undefined : certificateNamesFrom(certificateNames),
  };
}

/** @throws InfraError INVALID_FIELD */
function changedAccess(
  { role, services, grants }: RequestedUserChange,
  known: KnownMethods,
): Partial<AccountAccess> {
  if (grants !== undefined && grants.length > 0) {
    return accessFrom({ role, services: services ?? [], grants }, known);
  }
  if (grants !== undefined && role === undefined) {
    throw invalidField("role", "must be set, because the grants are removed");
  }
  return {
    ...(role === undefined ? {} : { role }),
    ...(services === undefined ? {} : { services: serviceLimitFrom(services, known.serviceNames) }),
    ...(grants === undefined ? {} : { grants: null }),
  };
}

function userNameOf({ actor }: Caller): string {
  const [, name] = /^user\/(.*)$/.exec(actor) ?? [];
  if (name === undefined) {
    throw new InfraError(authReasons.USER_NOT_FOUND, `${actor} is not a user and has no password`);
  }
  return name;
}

/** @throws InfraError USER_NOT_FOUND, USER_EXISTS, RECORD_CHANGED, USER_HAS_GRANTS, USER_OF_PROVIDER, LAST_ADMIN, CERTIFICATE_NAME_TAKEN, INVALID_CREDENTIALS */
function userFrom(result: UserResult, name: string): UserRecord {
  if (result.ok) {
    return result.user;
  }
  const resource = `users/${name}`;
  switch (result.why) {
    case "notFound":
      throw new InfraError(authReasons.USER_NOT_FOUND, `user ${JSON.stringify(name)} not found`, {
        resource,
      });
    case "exists":
      throw new InfraError(authReasons.USER_EXISTS, `user ${name} already exists`, { resource });
    case "changed":
      throw recordChanged(resource);
    case "hasGrants":
      throw new InfraError(
        authReasons.USER_HAS_GRANTS,
        `${name} has grants: set grants as well, or an empty list of them to return to a role`,
        { resource },
      );
    case "lastAdmin":
      throw new InfraError(
        authReasons.LAST_ADMIN,
        `${name} is the last admin with access to all services who can log in; create another one first`,
        { resource },
      );
    case "certificateNameTaken":
      throw new InfraError(
        authReasons.CERTIFICATE_NAME_TAKEN,
        `another user has the certificate name ${result.certificateName}`,
        { resource },
      );
    case "ofProvider":
      throw new InfraError(
        authReasons.USER_OF_PROVIDER,
        `${name} is a user of an identity provider, which decides its role and its logins`,
        { resource },
      );
    case "passwordChanged":
      throw new InfraError(
        authReasons.INVALID_CREDENTIALS,
        "the password was changed by another request at the same time",
        {
          resource,
        },
      );
  }
}
