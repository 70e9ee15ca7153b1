import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { readKubeconfig } from "../../../adapters/kubernetes/kubeconfig.ts";

function write(t: Test, files: Readonly<Record<string, string>>): string {
  return join(t.testdir(files), "kubeconfig");
}

const yaml = `apiVersion: v1
kind: Config
preferences: {}
current-context: first
contexts:
- context: {cluster: here, user: admin, namespace: rook-ceph}
  name: first
- context: {cluster: there, user: robot}
  name: second
clusters:
- name: here
  cluster:
    server: https://10.0.0.1:6443/
    certificate-authority: ca.pem
    tls-server-name: kubernetes.default
- name: there
  cluster: {server: "http://[::1]:8001", insecure-skip-tls-verify: true, proxy-url: "socks5://127.0.0.1:1080"}
users:
- name: admin
  user: {client-certificate: admin.pem, client-key-data: ${Buffer.from("a key").toString("base64")}, as: viewer, as-groups: [a, b]}
- name: robot
  user: {tokenFile: secrets/token, username: x, password: y}
`;

test("the files of a kubeconfig are relative to it", async (t) => {
  const path = write(t, { kubeconfig: yaml, "ca.pem": "a CA", "admin.pem": "a certificate" });
  t.strictSame(readKubeconfig(path, undefined), {
    server: "https://10.0.0.1:6443",
    user: "admin",
    tls: {
      ca: "a CA",
      cert: "a certificate",
      key: "a key",
      servername: "kubernetes.default",
      rejectUnauthorized: true,
    },
    proxyUrl: undefined,
    headers: { "impersonate-user": "viewer", "impersonate-group": ["a", "b"] },
    tokenPath: undefined,
  });
  t.match(readKubeconfig(path, "second"), {
    server: "http://[::1]:8001",
    tls: { rejectUnauthorized: false },
    proxyUrl: "socks5://127.0.0.1:1080",
    headers: { authorization: `Basic ${Buffer.from("x:y").toString("base64")}` },
    tokenPath: join(path, "../secrets/token"),
  });
});

test("a kubeconfig that cannot be used is rejected with the reason", async (t) => {
  const path = write(t, { kubeconfig: yaml });
  const cases = [
    { text: yaml, message: /kubeconfig cannot be read: ENOENT/ },
    { text: yaml.replace("server: https", "serve: https"), message: /it is not a kubeconfig/ },
    { text: yaml.replace("current-context: first", ""), message: /no context \(none is current\)/ },
    { text: yaml.replace("user: admin,", ""), message: /no context first with a cluster and a user/ },
    { text: yaml.replace("https://10", "http://10"), message: /without TLS/ },
    {
      text: yaml.replace("current-context: first", "current-context: second").replace("socks5:", "socks4:"),
      message: /proxy-url/,
    },
  ];
  for (const { text, message } of cases) {
    writeFileSync(path, text);
    t.throws(() => readKubeconfig(path, undefined), { reason: /^KUBERNETES_/, message });
  }
});
