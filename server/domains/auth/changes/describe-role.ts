import { describeGrant, type Grant } from "../../../rpc/access/grant.ts";

/** Describes what a user or token may do, e.g. `operator of proto.VGService`. */
export function describeRole(access: {
  readonly role: string;
  /** Null: all services. */
  readonly services: readonly string[] | null;
  /** Null: role and services decide. */
  readonly grants: readonly Grant[] | null;
}): string {
  const { role, services, grants } = access;
  if (grants !== null) {
    return grants.map(describeGrant).join("; ");
  }
  return `${role} of ${services === null ? "all services" : services.join(", ")}`;
}
