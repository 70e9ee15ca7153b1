import { durationFromMs } from "@bufbuild/protobuf/wkt";
import {
  ApiTokenSchema,
  ExplainAccessResponseSchema,
  type Role,
  RoleSchema,
  UserSchema,
  UserService,
} from "../../../gen/hostplane/v1/user_pb.ts";
import { change, list, type Noun, show } from "../../cli/table/command.ts";
import { enumText } from "../../cli/table/enum-text.ts";
import {
  argument,
  argumentList,
  duration,
  enumChoice,
  flag,
  nameOf,
  names,
  option,
  optionalArgument,
  optionList,
  word,
} from "../../cli/table/parameter.ts";
import { readPassword } from "../../cli/table/read-password.ts";
import { anyName, type Reference } from "../../cli/table/reference.ts";
import { timeText } from "../../cli/table/time-text.ts";
import { UsageError } from "../../cli/table/usage-error.ts";
import { accessText, grantsText, servicesText } from "./cli/access-text.ts";
import { grantValue } from "./cli/grant-words.ts";

const users: Reference = {
  noun: "user",
  fullId: anyName,
  async list(session) {
    const { message } = await session.call(UserService.method.listUsers, {});
    return message.users.map(({ name }) => ({ id: name, names: [] }));
  },
};

const tokens: Reference = {
  noun: "token",
  fullId: anyName,
  async list(session) {
    const { message } = await session.call(UserService.method.listApiTokens, {});
    return message.tokens.map(({ name }) => ({ id: name, names: [] }));
  },
};

const role = option("role of the user or token, unless it gets grants", enumChoice("role", RoleSchema));
const grant = optionList(
  "grant in place of a role, such as 'operator resources=volumeGroups/vg0/volumes/db-*'",
  grantValue,
);
const user = argument("name of the user", nameOf("name", users));

/** Users. */
export const userNoun: Noun = {
  reference: users,
  commands: [
    change({
      name: "add",
      summary: "add a user; prompts for the password, or reads it from stdin",
      isOffline: true,
      parameters: {
        name: argument("3 to 24 letters, digits, '-' and '_'", word("name")),
        role,
        services: option("limit the user to these services, separated by commas", names),
        grant,
        certificate: optionList(
          "let the user log in by a client certificate with this name, without a password",
          word("name"),
        ),
      },
      method: UserService.method.createUser,
      request: async ({ name, role: given, services = [], grant: grants, certificate }) => ({
        name,
        ...roleOrGrants(given, grants),
        password: certificate.length > 0 ? "" : await readPassword(`Password of ${name}`),
        services: [...services],
        certificateNames: [...certificate],
      }),
      done: ({ user: added }, values) => `added the user ${values.name}: ${accessText(added)}`,
    }),
    list({
      name: "list",
      summary: "list all users",
      isOffline: true,
      method: UserService.method.listUsers,
      schema: UserSchema,
      items: (response) => response.users,
      columns: {
        NAME: "name",
        ROLE: "role",
        SERVICES: (item) => servicesText(item.services),
        GRANTS: (item) => grantsText(item.grants),
        "LOGIN METHODS": (item) =>
          [
            ...(item.provider === "" ? [] : [`identity provider ${item.provider}`]),
            ...(item.hasPassword ? ["password"] : []),
            ...item.certificateNames,
          ].join(", "),
        CHANGED: "changedAt",
      },
    }),
    change({
      name: "remove",
      summary: "remove a user and end all of its logins",
      isOffline: true,
      destroys: true,
      parameters: { name: user },
      method: UserService.method.deleteUser,
      done: (_response, values) => `removed the user ${values.name}`,
    }),
    change({
      name: "passwd",
      summary: "change a user's password; prompts for it, or reads it from stdin",
      isOffline: true,
      parameters: { name: user },
      method: UserService.method.setPassword,
      request: async ({ name }) => ({ name, password: await readPassword(`New password of ${name}`) }),
      done: (_response, values) => `changed the password of ${values.name} and ended all of its logins`,
    }),
    change({
      name: "role",
      summary: "change a user's role, or limit it to services",
      isOffline: true,
      parameters: {
        name: user,
        role: argument("the new role", enumChoice("role", RoleSchema)),
        services: option("limit the role to these services, separated by commas", names),
        allServices: flag("remove the limit", { conflicts: "services" }),
      },
      method: UserService.method.updateUser,
      request: ({ name, role: given, services, allServices }) => {
        const limit = allServices ? [] : services;
        return {
          name,
          role: given,
          grants: { grants: [] },
          ...(limit === undefined ? {} : { services: { services: [...limit] } }),
        };
      },
      done: (response, values) =>
        `${values.name} is now ${enumText(RoleSchema, values.role)}, services: ${servicesText(response.user?.services ?? [])}`,
    }),
    change({
      name: "grant",
      summary: "replace what a user may do by grants",
      isOffline: true,
      parameters: { name: user, grants: argumentList("the new grants, each in quotes", grantValue) },
      method: UserService.method.updateUser,
      request: ({ name, grants }) => ({ name, grants: { grants: [...grants] } }),
      done: (response, values) => `${values.name} is now ${accessText(response.user)}`,
    }),
  ],
};

/** API tokens. */
export const tokenNoun: Noun = {
  reference: tokens,
  commands: [
    change({
      name: "create",
      summary: "create a token and print it once",
      isOffline: true,
      parameters: {
        name: argument("name of the token", word("name")),
        role,
        services: option("limit it to these services, separated by commas", names),
        grant,
        lifetime: option("time until it expires, such as 12h or 90d (default: unlimited)", duration),
      },
      method: UserService.method.createApiToken,
      request: ({ name, role: given, services = [], grant: grants, lifetime }) => ({
        name,
        ...roleOrGrants(given, grants),
        services: [...services],
        ...(lifetime === undefined ? {} : { lifetime: durationFromMs(lifetime) }),
      }),
      done: ({ token }) => token,
      id: ({ token }) => token,
      notes: (_response, values) => [`the token ${values.name} is shown only once; only its hash is stored`],
    }),
    list({
      name: "list",
      summary: "list all tokens, without their secrets",
      isOffline: true,
      method: UserService.method.listApiTokens,
      schema: ApiTokenSchema,
      items: (response) => response.tokens,
      columns: {
        NAME: "name",
        ROLE: "role",
        SERVICES: (item) => servicesText(item.services),
        GRANTS: (item) => grantsText(item.grants),
        "CREATED BY": "createdBy",
        EXPIRES: (item) => timeText(item.expiresAt) || "never",
        "LAST USED": (item) => timeText(item.lastUsedAt) || "never",
      },
    }),
    change({
      name: "revoke",
      summary: "revoke a token, effective immediately",
      isOffline: true,
      destroys: true,
      parameters: { name: argument("name of the token", nameOf("name", tokens)) },
      method: UserService.method.revokeApiToken,
      done: (_response, values) => `revoked the token ${values.name}`,
    }),
  ],
};

/** What users and tokens may do. */
export const accessNoun: Noun = {
  commands: [
    show({
      name: "explain",
      summary: "explain whether a user or token may make a call, and by which grant",
      isOffline: true,
      parameters: {
        actor: argument("user/NAME or token/NAME; a name alone is a user's", word("actor")),
        method: argument("method, such as proto.LVService/RemoveLV", word("method")),
        resource: optionalArgument(
          "resource, such as volumeGroups/vg0/volumes/db-1 (default: any)",
          word("resource"),
        ),
        onHost: option("host of the fleet (default: the gateway itself)", word("name")),
      },
      method: UserService.method.explainAccess,
      request: ({ actor, method, resource = "", onHost = "" }) => ({ actor, method, resource, host: onHost }),
      schema: ExplainAccessResponseSchema,
      item: (response) => response,
      id: ({ allowed }) => String(allowed),
      view: ({ allowed, reason, explanation }) => ({
        facts: [
          ["ALLOWED", allowed ? "yes" : `no, ${reason}`],
          ["WHY", explanation],
        ],
      }),
    }),
  ],
};

/** The keys that sign logins. */
export const keyNoun: Noun = {
  commands: [
    change({
      name: "rotate",
      summary: "sign logins with a new key; existing logins stay valid until they expire",
      isOffline: true,
      method: UserService.method.rotateSigningKey,
      done: ({ keyId }) =>
        `logins are now signed with key ${keyId}; existing logins stay valid until they expire`,
      id: ({ keyId }) => keyId,
    }),
  ],
};

/** @throws UsageError without both */
function roleOrGrants<G>(given: Role | undefined, grants: readonly G[]) {
  if (given === undefined && grants.length === 0) {
    throw new UsageError("expected a role (--role) or grants (--grant)");
  }
  return { ...(given === undefined ? {} : { role: given }), grants: [...grants] };
}
