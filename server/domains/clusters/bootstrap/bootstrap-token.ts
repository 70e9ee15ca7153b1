import { randomInt } from "node:crypto";

/**
 * Credential with which a machine joins a cluster: `abcdef.0123456789abcdef`. The first part is its name, the second a secret
 * of 82 bits (kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens).
 */
export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
  readonly ttlMs: number;
  /** Time at which Kubernetes deletes it. A cluster's first token lives longer, since its TTL starts with the cluster. */
  readonly expiresAt: Date;
}

/** A Secret in the form of the Kubernetes API, with values in plain text. */
export interface BootstrapTokenSecret {
  readonly apiVersion: "v1";
  readonly kind: "Secret";
  readonly metadata: { readonly name: string; readonly namespace: "kube-system" };
  readonly type: "bootstrap.kubernetes.io/token";
  readonly stringData: Readonly<Record<string, string>>;
}

const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";

/** Group whose members may request a node certificate, as set up by kubeadm. */
export const bootstrapTokenGroups = ["system:bootstrappers:kubeadm:default-node-token"];

/** Creates a random token. @param ttlMs must outlast the machine's deployment, since the machine joins at the end of it */
export function createBootstrapToken(nowMs: number, ttlMs: number): BootstrapToken {
  return { id: randomText(6), secret: randomText(16), ttlMs, expiresAt: new Date(nowMs + ttlMs) };
}

/** Formats the token as the machine presents it. */
export function formatBootstrapToken({ id, secret }: BootstrapToken): string {
  return `${id}.${secret}`;
}

/** Returns the Secret that registers the token with a running cluster once it is created there. */
export function bootstrapTokenSecretFrom(token: BootstrapToken, description: string): BootstrapTokenSecret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: `bootstrap-token-${token.id}`, namespace: "kube-system" },
    type: "bootstrap.kubernetes.io/token",
    stringData: {
      "token-id": token.id,
      "token-secret": token.secret,
      description,
      // RFC 3339 in whole seconds, as Kubernetes writes it.
      expiration: token.expiresAt.toISOString().replace(/\.\d+Z$/, "Z"),
      "usage-bootstrap-authentication": "true",
      "usage-bootstrap-signing": "true",
      "auth-extra-groups": bootstrapTokenGroups.join(","),
    },
  };
}

function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("");
}
