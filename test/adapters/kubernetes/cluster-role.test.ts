import { readFileSync } from "node:fs";
import { test } from "tap";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { watchedKinds } from "../../../adapters/kubernetes/resources.ts";

const path = new URL("../../../deploy/kubernetes/cluster-role.yaml", import.meta.url);

const manifest = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }),
  rules: z
    .array(
      z.strictObject({
        apiGroups: z.array(z.string()),
        resources: z.array(z.string()),
        verbs: z.array(z.string()),
      }),
    )
    .optional(),
  roleRef: z.object({ kind: z.string(), name: z.string() }).optional(),
  subjects: z.array(z.object({ kind: z.string(), name: z.string(), namespace: z.string() })).optional(),
});
const manifests = parseAllDocuments(readFileSync(path, "utf8")).map((document) =>
  manifest.parse(document.toJS()),
);

function rightsOf(role: string): string[] {
  const rules = manifests
    .filter(({ metadata }) => metadata.name === role)
    .flatMap(({ rules: own = [] }) => own);
  return rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`)),
    ),
  );
}

function requestedRights(isNamespaced: boolean): string[] {
  return Object.values(watchedKinds)
    .filter((kind) => kind.isNamespaced === isNamespaced)
    .flatMap(({ group, resource }) => ["list", "watch"].map((verb) => `${verb} ${resource}.${group}`));
}

test("the roles grant exactly the permissions that the adapter uses", async (t) => {
  t.strictSame(rightsOf("hostplane-nodes").sort(), requestedRights(false).sort());
  t.strictSame(rightsOf("hostplane-storage").sort(), requestedRights(true).sort());
});

test("permissions for a namespace are granted only there, to the created account", async (t) => {
  const account = { kind: "ServiceAccount", name: "hostplane", namespace: "rook-ceph" };
  t.match(manifests, [
    { kind: "ServiceAccount", metadata: { name: account.name, namespace: account.namespace } },
    { kind: "ClusterRole" },
    { kind: "ClusterRole" },
    { kind: "ClusterRoleBinding", roleRef: { name: "hostplane-nodes" }, subjects: [account] },
    {
      kind: "RoleBinding",
      metadata: { namespace: "rook-ceph" },
      roleRef: { name: "hostplane-storage" },
      subjects: [account],
    },
  ]);
});
