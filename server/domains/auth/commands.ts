import { ApiTokenSchema, RoleSchema, UserSchema, UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { change, list, type Noun } from "../../cli/table/command.ts";
import { enumText } from "../../cli/table/enum-text.ts";
import {
  argument,
  duration,
  enumChoice,
  flag,
  nameOf,
  names,
  option,
  optionList,
  requiredOption,
  word,
} from "../../cli/table/parameter.ts";
import { readPassword } from "../../cli/table/read-password.ts";
import { anyName, type Reference } from "../../cli/table/reference.ts";
import { timeText } from "../../cli/table/time-text.ts";

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

const role = requiredOption("role of the user or token", enumChoice("role", RoleSchema));
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
        certificate: optionList(
          "let the user log in by a client certificate with this name, without a password",
          word("name"),
        ),
      },
      method: UserService.method.createUser,
      request: async ({ name, role: given, services = [], certificate }) => ({
        name,
        role: given,
        password: certificate.length > 0 ? "" : await readPassword(`Password of ${name}`),
        services: [...services],
        certificateNames: [...certificate],
      }),
      done: (_response, values) => `added the user ${values.name}: ${enumText(RoleSchema, values.role)}`,
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
        "LOGIN METHODS": (item) =>
          [...(item.hasPassword ? ["password"] : []), ...item.certificateNames].join(", "),
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
        return { name, role: given, ...(limit === undefined ? {} : { services: { services: [...limit] } }) };
      },
      done: (response, values) =>
        `${values.name} is now ${enumText(RoleSchema, values.role)}, services: ${servicesText(response.user?.services ?? [])}`,
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
        lifetime: option("time until it expires, such as 12h or 90d (default: unlimited)", duration),
      },
      method: UserService.method.createApiToken,
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

/** Returns `all`, or the names. */
function servicesText(services: readonly string[]): string {
  return services.length === 0 ? "all" : services.join(",");
}
