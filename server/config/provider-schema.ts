import { z } from "zod";
import { grantSchema, grantsMax } from "../rpc/access/grant.ts";
import { isLoopbackHost } from "./address-range.ts";
import type { ConfigOf } from "./config-of.ts";
import { assertUnique } from "./schema-rules.ts";

const path = z.string().min(1).max(4095);
const claim = z.string().min(1).max(255);

/** Parameters of the authorization request that the gateway sets itself. */
const ownParameters: ReadonlySet<string> = new Set([
  "client_id",
  "code_challenge",
  "code_challenge_method",
  "nonce",
  "redirect_uri",
  "request",
  "request_uri",
  "response_mode",
  "response_type",
  "scope",
  "state",
]);

/** Name of an identity provider, in paths and after the `@` of its users' names. */
const providerName = z
  .string()
  .max(31)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, {
    error: "expected at most 31 lower-case letters, digits and '-', with a letter or digit at both ends",
  });

const roleRule = z
  .strictObject({
    group: z
      .string()
      .min(1)
      .max(255)
      .meta({
        description:
          "Name of a group, as the provider sends it. `*` matches any text; alone, it matches every user.",
        examples: ["infra-*"],
      }),
    role: z.enum(["viewer", "operator", "admin"]).exactOptional().meta({
      description:
        "Role of the members, for everything. A user in several groups has the highest of their roles.",
    }),
    grants: z.array(grantSchema).min(1).max(grantsMax).exactOptional().meta({
      description:
        "Grants of the members, in place of `role`: a role for some methods, hosts and resources. A user has the grants of all its groups: at most 32, and 8 KiB as JSON.",
    }),
  })
  .superRefine(({ role, grants }, context) => {
    if ((role === undefined) === (grants === undefined)) {
      const path = grants === undefined ? "role" : "grants";
      context.addIssue({ code: "custom", path: [path], message: "expected either role or grants" });
    }
  });

const provider = z.strictObject({
  name: providerName.meta({
    description:
      "Short name, in the path of the redirect URL and at the end of the names of its users, such as `alice@corp`. Do not change it later: its users would become different users.",
  }),
  title: z.string().min(1).max(60).exactOptional().meta({
    description: "Name for people, as in `Log in with Example Corp`. The short name if absent.",
  }),
  issuer: z.string().superRefine(assertSecureUrl).meta({
    description:
      "URL of the provider's issuer, whose path with `/.well-known/openid-configuration` describes the provider.",
  }),
  clientId: z.string().min(1).max(1024).meta({
    description: "ID of this gateway at the provider.",
  }),
  clientSecretFile: path.exactOptional().meta({
    description:
      "File with the client's secret. If absent, the gateway is a public client, protected by PKCE only.",
  }),
  clientAuthentication: z.enum(["basic", "post"]).default("basic").meta({
    description:
      "How the gateway sends its secret: in a header (`client_secret_basic`) or in the body (`client_secret_post`).",
  }),
  scopes: z
    .array(z.string().regex(/^[!#-[\]-~]+$/, { error: "expected a scope without spaces and quotes" }))
    .min(1)
    .max(32)
    .refine((scopes) => scopes.includes("openid"), { error: "expected a list that contains openid" })
    .default(["openid", "profile", "offline_access"])
    .meta({
      description:
        "Scopes to request. The provider must issue a refresh token for them, by which the gateway checks that the user still exists.",
    }),
  parameters: z
    .array(
      z
        .string()
        .regex(/^[^=\s]+=.+$/, { error: "expected name=value" })
        .refine((text) => !ownParameters.has(text.slice(0, text.indexOf("="))), {
          error: "expected no parameter that the gateway sets itself",
        }),
    )
    .max(16)
    .default([])
    .meta({
      description: "Further parameters of the login page's URL, such as `prompt=consent`.",
      examples: [["access_type=offline", "prompt=consent"]],
    }),
  nameClaim: claim.default("preferred_username").meta({
    description:
      "Claim with the user's login name. The name on this gateway is the part before an `@`, then `@` and the name of the provider.",
  }),
  groupsClaim: claim.default("groups").meta({
    description: "Claim with the names of the user's groups, in the ID token or from the userinfo endpoint.",
  }),
  roles: z.array(roleRule).min(1).max(1000).meta({
    description: "Roles and grants of groups. A user without any of them cannot log in.",
  }),
  endSession: z.boolean().default(true).meta({
    description:
      "Whether a logout in the dashboard also ends the session at the provider, if that has a page for it (`end_session_endpoint`). The browser then returns to `publicUrl`, which the provider must know as a URL to return to.",
  }),
  caFile: path.exactOptional().meta({
    description: "PEM file with certificates to trust for the provider in place of the default ones.",
  }),
});

/** The keys of logins by identity providers, in the group `auth`. */
export const providerKeys = {
  publicUrl: z
    .string()
    .superRefine(assertSecureUrl)
    .refine((text) => URL.parse(text)?.pathname === "/", {
      error: "expected a URL without a path, such as https://gateway.example.org",
    })
    .exactOptional()
    .meta({
      description:
        "URL at which browsers reach the gateway, or the hubs of a fleet together. Identity providers return there: to `/oidc/NAME/callback`, where NAME is the name of the provider.",
    }),
  checkSeconds: z.int().min(1).max(25).default(25).meta({
    description:
      "How often a login by an identity provider that is in use is checked at the provider, in seconds. A user who is removed there is logged out within twice this time plus ten seconds.",
  }),
  providers: z
    .array(provider)
    .max(16)
    .superRefine((providers, context) => assertUnique(providers, context, "name", ({ name }) => name))
    .default([])
    .meta({
      description: "Identity providers (OpenID Connect) that users can log in by, in addition to passwords.",
    }),
};

/** Adds an issue unless `auth.publicUrl` is set, which providers need. */
export function assertPublicUrl(
  auth: { readonly publicUrl?: string; readonly providers: readonly unknown[] },
  context: z.RefinementCtx,
): void {
  if (auth.providers.length > 0 && auth.publicUrl === undefined) {
    const message = "expected the URL at which browsers reach the gateway, because auth.providers is set";
    context.addIssue({ code: "custom", path: ["publicUrl"], message });
  }
}

/** Adds an issue unless the text is an https URL, or an http URL of this host, without a query and a user. */
function assertSecureUrl(text: string, context: z.RefinementCtx): void {
  const url = URL.parse(text);
  const isSecure = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackHost(url.hostname));
  if (!isSecure || url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "") {
    const message = "expected an https:// URL without a query and a user name (http:// only for this host)";
    context.addIssue({ code: "custom", message });
  }
}

/** One entry of `auth.providers`. */
export type ProviderConfig = ConfigOf<typeof provider>;
