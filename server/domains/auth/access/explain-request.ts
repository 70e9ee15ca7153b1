import type { DescMethod } from "@bufbuild/protobuf";
import { InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import type { ExplainAccessRequest } from "../../../../gen/hostplane/v1/user_pb.ts";
import type { CallerRole } from "../../../rpc/access/caller-role.ts";
import type { GrantedHost } from "../../../rpc/access/grant.ts";
import type { MethodAccess } from "../../../rpc/access/method-access.ts";
import { explainPattern } from "../../../rpc/access/resource-pattern.ts";
import { methodPathOf } from "../../../rpc/call/method-rule.ts";
import { authReasons } from "../reasons.ts";
import type { ApiTokens } from "../tokens/api-tokens.ts";
import type { Users } from "../users.ts";
import {
  type ExplainedAccount,
  type Explanation,
  explainAccess,
  parseActor,
  type RuledMethod,
} from "./explain-access.ts";

export interface ExplainOptions {
  readonly users: Pick<Users, "list">;
  readonly apiTokens: Pick<ApiTokens, "list">;
  /** All methods of the contract. */
  readonly methods: readonly RuledMethod[];
  /** Returns what the calls of a method concern. */
  readonly accessOf: (method: DescMethod) => MethodAccess | undefined;
  /** Returns a host of the fleet; undefined if there is none of this name. */
  readonly findHost: (name: string) => GrantedHost | undefined;
  /** Name of this gateway's host. */
  readonly here: string;
}

/**
 * Explains what a user or token may do.
 * @throws InfraError INVALID_FIELD, USER_NOT_FOUND, API_TOKEN_NOT_FOUND
 */
export type ExplainRequest = (
  request: Pick<ExplainAccessRequest, "actor" | "method" | "resource" | "host">,
) => Promise<Explanation>;

/** @param options the rules by which calls are decided, so that an explanation cannot differ from the decision */
export function createExplainRequest(options: ExplainOptions): ExplainRequest {
  const { users, apiTokens, accessOf, findHost, here } = options;
  const methods = new Map(options.methods.map((each) => [methodPathOf(each.method), each]));

  async function accountOf(actor: string): Promise<ExplainedAccount> {
    const { kind, name } = parseActor(actor);
    const all = kind === "user" ? await users.list() : await apiTokens.list();
    const found = all.find((each) => each.name === name);
    if (found === undefined) {
      const reason = kind === "user" ? authReasons.USER_NOT_FOUND : authReasons.API_TOKEN_NOT_FOUND;
      throw new InfraError(reason, `${kind} ${JSON.stringify(name)} not found`);
    }
    const { role, services, grants } = found;
    return { actor: `${kind}/${name}`, role: role as CallerRole, services, grants };
  }

  return async ({ actor, method: path, resource, host: hostName }) => {
    const found = methods.get(path);
    if (found === undefined) {
      throw invalidField("method", "must be the full name of a method, such as proto.LVService/RemoveLV");
    }
    const mistake = resource === "" ? undefined : explainPattern(resource);
    if (mistake !== undefined) {
      throw invalidField("resource", mistake);
    }
    const host = hostName === "" ? undefined : findHost(hostName);
    if (hostName !== "" && host === undefined) {
      throw invalidField("host", `${JSON.stringify(hostName)} is not a host of this fleet`);
    }
    const use = { ...found, access: accessOf(found.method), resource, host };
    return explainAccess(await accountOf(actor), use, here);
  };
}
