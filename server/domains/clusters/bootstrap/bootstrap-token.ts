import { randomInt } from "node:crypto";

/**
 * What a machine shows to join a cluster: `abcdef.0123456789abcdef`, of which the first part is its name and the second a secret
 * of 82 bits (kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens).
 */
export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
  readonly ttlMs: number;
  /** Kubernetes deletes it then; the first token of a cluster later, since its time begins with the cluster's. */
  readonly expiresAt: Date;
}

/** A Secret as the API of Kubernetes takes it, with values in plain text. */
export interface BootstrapTokenSecret {
  readonly apiVersion: "v1";
  readonly kind: "Secret";
  readonly metadata: { readonly name: string; readonly namespace: "kube-system" };
  readonly type: "bootstrap.kubernetes.io/token";
  readonly stringData: Readonly<Record<string, string>>;
}

const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";

/** What nodes that show a token may do: ask for a certificate of their own, as kubeadm has it. */
export const bootstrapTokenGroups = ["system:bootstrappers:kubeadm:default-node-token"];

/** A token of random characters. @param ttlMs must outlast the machine's deployment, since it joins at its end */
export function createBootstrapToken(nowMs: number, ttlMs: number): BootstrapToken {
  return { id: randomText(6), secret: randomText(16), ttlMs, expiresAt: new Date(nowMs + ttlMs) };
}

/** The token as a machine shows it. */
export function formatBootstrapToken({ id, secret }: BootstrapToken): string {
  return `${id}.${secret}`;
}

/** Makes the token known to a cluster that runs, when it is created in there. */
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
