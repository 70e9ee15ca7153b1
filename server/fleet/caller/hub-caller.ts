import { z } from "zod";
import { type CallerRole, callerRoles } from "../../rpc/access/caller-role.ts";
import { type Grant, grantSchema, grantsMax } from "../../rpc/access/grant.ts";

/** A caller of a hub, as the hub describes it to an agent. */
export interface HubCaller {
  /** As at the hub, e.g. `user/alice`. */
  readonly actor: string;
  /** Identifies the account in the whole fleet; never reused. */
  readonly accountId: string;
  readonly role: CallerRole;
  /** Full names of the services that the role is limited to; undefined if it is not limited. */
  readonly services: readonly string[] | undefined;
  /** Its grants on the host, without their hosts; undefined: role and services decide. Empty grants allow nothing. */
  readonly grants?: readonly Grant[] | undefined;
  /** IP address of the client; `unix` for a unix socket of the hub. */
  readonly address: string;
  /** Name of the hub, for people. */
  readonly hub: string;
  /** Request ID at the hub. */
  readonly requestId: string;
}

const schema = z.strictObject({
  actor: z.string().min(1).max(300),
  accountId: z.string().max(300),
  role: z.enum(callerRoles),
  services: z.array(z.string().max(300)).max(1000).optional(),
  grants: z.array(grantSchema).max(grantsMax).optional(),
  address: z.string().max(100),
  hub: z.string().min(1).max(253),
  requestId: z.string().max(100),
});

/** Encodes a caller for the header. */
export function encodeHubCaller(caller: HubCaller): string {
  return Buffer.from(JSON.stringify(caller)).toString("base64url");
}

/** Decodes a header; undefined if it is not one that `encodeHubCaller` returns. */
export function parseHubCaller(text: string): HubCaller | undefined {
  try {
    const { services, grants, ...rest } = schema.parse(JSON.parse(Buffer.from(text, "base64url").toString()));
    return { ...rest, services, grants };
  } catch {
    return undefined;
  }
}
