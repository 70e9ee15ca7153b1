import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { csiSchema } from "../../server/domains/volumes/csi/csi-schema.ts";
import { configSchema } from "../../server/gateway/config/schema.ts";
import { otherVariables } from "../../server/gateway/config/settings.ts";
import { root } from "../server/cli/run-hostplane.ts";

const manifest = z.looseObject({
  kind: z.string(),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }),
});
const read = (file: string) =>
  parseAllDocuments(readFileSync(join(root, "deploy/kubernetes", file), "utf8")).map((document) =>
    manifest.parse(document.toJS()),
  );
const manifests = read("gateway.yaml");
const find = (kind: string) => manifests.find((each) => each.kind === kind);

test("the gateway accepts the configuration in the ConfigMap", async (t) => {
  const { data } = z.object({ data: z.record(z.string(), z.string()) }).parse(find("ConfigMap"));
  const text = data["hostplane.yaml"] ?? "";
  t.equal(configSchema.safeParse(parse(text)).error, undefined);
});

test("its account has exactly the roles of cluster-role.yaml", async (t) => {
  const roles = new Set(
    read("cluster-role.yaml").flatMap(({ kind, metadata }) => (kind === "ClusterRole" ? metadata.name : [])),
  );
  const bindings = manifests.filter(({ kind }) => kind.endsWith("RoleBinding"));
  const bound = bindings.map(
    (each) => z.object({ roleRef: z.object({ name: z.string() }) }).parse(each).roleRef.name,
  );
  t.same(new Set(bound), roles);
  t.match(bindings, [
    { subjects: [{ name: "hostplane", namespace: "hostplane" }] },
    { metadata: { namespace: "rook-ceph" }, subjects: [{ name: "hostplane", namespace: "hostplane" }] },
  ]);
});

test("the pod is confined, and its probes need no login", async (t) => {
  t.match(find("StatefulSet"), {
    spec: {
      template: {
        spec: {
          serviceAccountName: "hostplane",
          securityContext: { runAsNonRoot: true, runAsUser: 1000 },
          containers: [
            {
              livenessProbe: { httpGet: { path: "/healthz" } },
              readinessProbe: { httpGet: { path: "/readyz" } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ["ALL"] },
              },
            },
          ],
        },
      },
    },
  });
  const text = JSON.stringify(find("StatefulSet"));
  for (const [name] of text.matchAll(/HOSTPLANE_\w+/g)) {
    t.ok(otherVariables.includes(name) || name === "HOSTPLANE_LOG_FORMAT", name);
  }
});

test("the sidecars of the CSI driver use the driver's name and socket, and its account", async (t) => {
  const csi = read("csi.yaml");
  const { driverName } = csiSchema.parse({});
  const named = csi.find(({ kind }) => kind === "CSIDriver");
  t.match(named, { metadata: { name: driverName }, spec: { attachRequired: false, storageCapacity: true } });
  t.match(
    csi.find(({ kind }) => kind === "StorageClass"),
    { provisioner: driverName, volumeBindingMode: "WaitForFirstConsumer" },
  );
  const socket = `/var/lib/kubelet/plugins/${driverName}`;
  t.match(
    csi.find(({ kind }) => kind === "DaemonSet"),
    {
      spec: {
        template: {
          spec: {
            serviceAccountName: "hostplane-csi",
            volumes: [{ name: "socket", hostPath: { path: socket } }, { name: "registration" }],
          },
        },
      },
    },
  );
  t.match(JSON.stringify(csi), `--kubelet-registration-path=${socket}/csi.sock`);
  for (const { kind, metadata } of csi.filter((each) => "roleRef" in each)) {
    const role = kind.replace("Binding", "");
    t.ok(csi.some((each) => each.kind === role && each.metadata.name === metadata.name));
  }
});
