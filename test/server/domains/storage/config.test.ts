import { test } from "tap";
import { configSchema } from "../../../../server/gateway/config/schema.ts";

function messagesOf(storage: unknown): readonly string[] {
  const { issues } = configSchema.safeParse({ storage }).error ?? { issues: [] };
  return issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

test("the default Ceph configuration is where its packages put it", async (t) => {
  t.same(configSchema.parse({ storage: { ceph: {} } }).storage, {
    ceph: { conf: "/etc/ceph/ceph.conf", user: "client.hostplane" },
  });
  const ceph = {
    conf: "/etc/ceph/other.conf",
    user: "client.figures",
    keyring: "/etc/ceph/figures.keyring",
    operator: { user: "client.changes", keyring: "/etc/ceph/changes.keyring" },
  };
  t.same(configSchema.parse({ storage: { ceph } }).storage, { ceph });
  t.match(messagesOf({ ceph: { user: "hostplane" } }), [/ceph\.user: expected the name of a Ceph user/]);
  t.match(messagesOf({ ceph: { operator: {} } }), [/ceph\.operator\.user: /], "the operator has no default");
});

test("Kubernetes is reached by a file, or with the account of the gateway's own pod", async (t) => {
  t.same(configSchema.parse({ storage: { kubernetes: {} } }).storage, {
    kubernetes: { namespace: "rook-ceph" },
  });
  const kubernetes = { kubeconfig: "/etc/hostplane/kubeconfig", context: "lab", namespace: "storage" };
  t.same(configSchema.parse({ storage: { kubernetes } }).storage, { kubernetes });
  t.match(messagesOf({ kubernetes: { context: "lab" } }), [
    /kubernetes\.context: expected only with kubeconfig/,
  ]);
  t.match(messagesOf({ kubernetes: { namespace: "Rook" } }), [/kubernetes\.namespace: expected the name/]);
});

test("storage needs at least one of both", async (t) => {
  t.match(messagesOf({}), [/storage: expected ceph, kubernetes or both/]);
});
