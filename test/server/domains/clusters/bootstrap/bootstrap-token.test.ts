import { test } from "tap";
import {
  bootstrapTokenSecretFrom,
  createBootstrapToken,
  formatBootstrapToken,
} from "../../../../../server/domains/clusters/bootstrap/bootstrap-token.ts";

const nowMs = Date.parse("2026-11-21T12:00:00.250Z");

test("tokens are unique and in the form that Kubernetes reads", async (t) => {
  const tokens = Array.from({ length: 200 }, () => formatBootstrapToken(createBootstrapToken(nowMs, 1)));
  for (const token of tokens) {
    t.match(token, /^[a-z0-9]{6}\.[a-z0-9]{16}$/);
  }
  t.equal(new Set(tokens).size, tokens.length);
  t.equal(new Set(tokens.join("")).size, 37, "all letters, all digits and the dot");
});

test("the Secret of a token expires with it", async (t) => {
  const token = createBootstrapToken(nowMs, 2 * 3600_000);
  t.same(bootstrapTokenSecretFrom(token, "machine abc123"), {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: `bootstrap-token-${token.id}`, namespace: "kube-system" },
    type: "bootstrap.kubernetes.io/token",
    stringData: {
      "token-id": token.id,
      "token-secret": token.secret,
      description: "machine abc123",
      expiration: "2026-11-21T14:00:00Z",
      "usage-bootstrap-authentication": "true",
      "usage-bootstrap-signing": "true",
      "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
    },
  });
});
