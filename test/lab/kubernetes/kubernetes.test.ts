import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { test } from "tap";
import { parseAllDocuments } from "yaml";
import { createKubernetes } from "../../../adapters/kubernetes/kubernetes.ts";
import {
  pathOf,
  titleOf,
  type WatchedName,
  watchedKinds,
  watchedNames,
} from "../../../adapters/kubernetes/resources.ts";
import { type Manifest, sandboxManifests } from "../../../adapters/kubernetes/sandbox-cluster.ts";
import { registerKubernetesContract } from "../../adapters/kubernetes/contract.ts";
import type { ContractSubject } from "../../adapters/kubernetes/contract-subject.ts";
import { type KubernetesLab, kubernetesSkipReason, startKubernetes } from "./kubernetes.ts";

const namespace = "rook-ceph";
const seeds = sandboxManifests(Date.now(), namespace);
const skip = kubernetesSkipReason();

test("a kube-apiserver with Rook's and Koor's definitions", { skip, timeout: 2_400_000 }, async (t) => {
  const lab = await startKubernetes(t);
  await lab.query("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  for (const definition of await documents("kubernetes-crds.yaml")) {
    await install(lab, definition);
  }
  for (const document of await documents("../../../deploy/kubernetes/cluster-role.yaml")) {
    await lab.query("POST", pathFor(document), document);
  }
  for (const kind of watchedNames) {
    for (const seed of seeds[kind]) {
      await put(lab, kind, seed);
    }
  }
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts/hostplane/token`;
  const { body } = await lab.query("POST", accounts, { spec: { expirationSeconds: 7_200 } });
  const kubeconfigPath = join(t.testdir(), "kubeconfig");
  await writeFile(kubeconfigPath, await lab.kubeconfig(body.status.token), { mode: 0o600 });
  const definitions = new Map(
    (await documents("kubernetes-crds.yaml")).map((each) => [each.metadata.name, each]),
  );

  registerKubernetesContract(t, "kube-apiserver", async (): Promise<ContractSubject> => {
    return {
      kubernetes: createKubernetes({
        kubeconfigPath,
        namespace,
        heartbeatMs: 200,
        patienceMs: 2_000,
        keepMs: 3_000,
        retry: { firstMs: 50, longestMs: 500 },
      }),
      seeds,
      put: (kind, object) => put(lab, kind, object),
      async remove(kind, name) {
        await lab.query("DELETE", `${pathOf(watchedKinds[kind], namespace)}/${name}`);
      },
      async deny(kind) {
        await setRight(lab, kind, false);
        // An open watch survives the removal of its permission; the next one is refused.
        lab.closeGate();
        lab.openGate();
      },
      allow: (kind) => setRight(lab, kind, true),
      async uninstall(kind) {
        const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${titleOf(watchedKinds[kind])}`;
        await lab.query("DELETE", path);
        await until(async () => (await lab.query("GET", path)).statusCode === 404);
        await until(
          async () => (await lab.query("GET", pathOf(watchedKinds[kind], namespace))).statusCode === 404,
        );
      },
      install: (kind) => install(lab, definitions.get(titleOf(watchedKinds[kind])) as Manifest),
      async missHistory(work) {
        lab.closeGate();
        await work();
        await lab.compact();
        // The API server keeps recent history in memory, too.
        await lab.stop();
        await lab.start();
        lab.openGate();
      },
      stopCluster: lab.kill,
      startCluster: lab.start,
    };
  });
});

async function documents(path: string): Promise<Manifest[]> {
  const yaml = await readFile(new URL(path, import.meta.url), "utf8");
  return parseAllDocuments(yaml).map((document) => document.toJS());
}

/** Returns the path at which a manifest's object is created. */
function pathFor({ apiVersion, kind, metadata }: Manifest): string {
  const root = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
  const of = metadata.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`;
  return `${root}${of}/${kind.toLowerCase()}s`;
}

async function install(lab: KubernetesLab, definition: Manifest): Promise<void> {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  await lab.query("POST", path, definition);
  const kind = Object.values(watchedKinds).find((each) => titleOf(each) === definition.metadata.name);
  const list = pathOf(kind ?? watchedKinds.nodes, namespace);
  await until(async () => (await lab.query("GET", list)).statusCode === 200);
}

/** Writes an object and then its status, which is a separate subresource. */
async function put(lab: KubernetesLab, kind: WatchedName, object: Manifest): Promise<void> {
  const path = pathOf(watchedKinds[kind], namespace);
  const own = `${path}/${object.metadata.name}`;
  const found = await lab.query("GET", own);
  const created =
    found.statusCode === 404
      ? await lab.query("POST", path, object)
      : await lab.query("PUT", own, withVersion(object, found.body.metadata.resourceVersion));
  if (object.status !== undefined) {
    await lab.query("PUT", `${own}/status`, withVersion(object, created.body.metadata.resourceVersion));
  }
}

function withVersion(object: Manifest, resourceVersion: string): Manifest {
  // Fields that only the server writes.
  const { creationTimestamp: _, generation: __, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, resourceVersion } };
}

interface Rule {
  readonly resources: readonly string[];
}

async function setRight(lab: KubernetesLab, kind: WatchedName, isGiven: boolean): Promise<void> {
  const path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/hostplane-storage";
  const { body: role } = await lab.query("GET", path);
  const { group, resource } = watchedKinds[kind];
  const others = role.rules.filter(({ resources }: Rule) => !resources.includes(resource));
  const rule = { apiGroups: [group], resources: [resource], verbs: ["list", "watch"] };
  await lab.query("PUT", path, { ...role, rules: isGiven ? [...others, rule] : others });
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) {
    await delay(50);
  }
}
