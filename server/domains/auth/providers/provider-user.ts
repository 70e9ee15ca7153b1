import { createHash } from "node:crypto";

/** A user as a provider describes it. */
export interface ProviderUser {
  /** Identifies the user at the provider, and is never given to another one (OpenID Connect Core, 2: `sub`). */
  readonly subject: string;
  /** The provider's session, for a logout of that session only; undefined if the provider does not name it. */
  readonly sid: string | undefined;
  /** Login name at the provider; undefined if it sends none. Not unique, and may change. */
  readonly loginName: string | undefined;
  readonly groups: readonly string[];
}

const maxGroups = 10_000;
const maxBaseLength = 40;

/** Names of the claims that describe a user. */
export interface UserClaims {
  readonly nameClaim: string;
  readonly groupsClaim: string;
}

/** Returns the user that the claims of an ID token or the userinfo endpoint describe. Claims of another type count as absent. */
export function providerUserFrom(
  claims: Readonly<Record<string, unknown>>,
  { nameClaim, groupsClaim }: UserClaims,
): ProviderUser {
  const { sub, sid } = claims;
  const name = claims[nameClaim];
  return {
    subject: String(sub),
    sid: typeof sid === "string" ? sid : undefined,
    loginName: typeof name === "string" ? name : undefined,
    groups: groupsFrom(claims[groupsClaim]),
  };
}

/** Some providers send one group as a text. */
function groupsFrom(value: unknown): readonly string[] {
  const list = typeof value === "string" ? [value] : Array.isArray(value) ? value : [];
  return list.slice(0, maxGroups).filter((one) => typeof one === "string");
}

/**
 * Returns the names that a new user may get, in order of preference: `alice@corp`, and `alice-1b2c3d4e@corp` if another user of
 * the provider has the first one. No local user has such a name, because those contain no `@`.
 */
export function providerUserNames(
  { subject, loginName = "" }: Pick<ProviderUser, "subject" | "loginName">,
  provider: string,
): readonly [string, string] {
  const local = loginName.split("@", 1)[0] ?? "";
  const base =
    local
      .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
      .slice(0, maxBaseLength)
      .replaceAll(/^[._-]+|[._-]+$/g, "") || "user";
  const mark = createHash("sha256").update(subject).digest("hex").slice(0, 16);
  return [`${base}@${provider}`, `${base}-${mark}@${provider}`];
}
