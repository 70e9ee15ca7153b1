import { observeStep } from "../host/observe-step.ts";
import type { WorkloadAccess, WorkloadCluster } from "./adapter.ts";
import { type ApiRequest, createApiClient } from "./api-client.ts";
import { drainNode } from "./drain.ts";
import { removeMember } from "./etcd.ts";
import { createKubeadmBindings } from "./kubeadm-bindings.ts";
import { assertObjectName } from "./names.ts";
import { parseNode, parseNodes, parseVersion } from "./parse-reply.ts";
import { setKubeadmVersion, setProxyVersion } from "./set-version.ts";
import type { Dial } from "./tls-client.ts";

const readMs = 3_000;
const changeMs = 10_000;

/** Creates the client of a cluster's API servers. It connects at the first call. */
export function createWorkloadCluster(access: WorkloadAccess, dial: Dial | undefined): WorkloadCluster {
  const api = createApiClient(access, dial);

  function read<T>(
    request: ApiRequest,
    parse: (value: unknown) => T,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    return api.within(readMs, signal, async (end) => {
      const reply = await api.send(request, end);
      return parse("value" in reply ? reply.value : undefined);
    });
  }

  /** Reported to observers, without the body. */
  function change<T>(
    subcommand: string,
    object: string,
    signal: AbortSignal | undefined,
    work: (end: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const step = { program: "kubernetes", subcommand, argv: [subcommand, object] };
    return observeStep(step, () => api.within(changeMs, signal, work));
  }

  const nodePath = (node: string) => `/api/v1/nodes/${encodeURIComponent(node)}`;

  async function addressesOf(node: string, end: AbortSignal): Promise<readonly string[]> {
    const request = { method: "GET", path: nodePath(node), what: `read node ${node}` } as const;
    const reply = await api.send(request, end, [404]);
    return "value" in reply ? parseNode(reply.value).addresses : [];
  }

  return {
    version(signal) {
      return read({ method: "GET", path: "/version", what: "read its version" }, parseVersion, signal);
    },
    nodes(signal) {
      return read({ method: "GET", path: "/api/v1/nodes", what: "list its nodes" }, parseNodes, signal);
    },
    async writeSecret(secret, signal) {
      const { name, namespace } = secret.metadata;
      assertObjectName(name, "metadata.name");
      assertObjectName(namespace, "metadata.namespace");
      const path = `/api/v1/namespaces/${namespace}/secrets`;
      const request = { body: secret, what: `write Secret ${name}`, isSecret: true } as const;
      await change("write secret", `${namespace}/${name}`, signal, async (end) => {
        const created = await api.send({ ...request, method: "POST", path }, end, [409]);
        if ("refusal" in created) {
          await api.send({ ...request, method: "PUT", path: `${path}/${name}` }, end);
        }
      });
    },
    async cordon(node, signal) {
      assertObjectName(node, "node");
      const request = {
        method: "PATCH",
        path: nodePath(node),
        body: { spec: { unschedulable: true } },
        contentType: "application/merge-patch+json",
        what: `cordon ${node}`,
      } as const;
      await change("cordon", node, signal, (end) => api.send(request, end, [404]));
    },
    async drain(node, signal) {
      assertObjectName(node, "node");
      return change("drain", node, signal, (end) => drainNode(api, node, end));
    },
    async deleteNode(node, signal) {
      assertObjectName(node, "node");
      const request = { method: "DELETE", path: nodePath(node), what: `delete node ${node}` } as const;
      await change("delete node", node, signal, (end) => api.send(request, end, [404]));
    },
    async setVersion(version, signal) {
      await change("set version", version, signal, async (end) => {
        await createKubeadmBindings(api, end);
        await setKubeadmVersion(api, version, end);
        await setProxyVersion(api, version, end);
      });
    },
    async removeEtcdMember(node, etcd, signal) {
      assertObjectName(node, "node");
      await change("remove etcd member", node, signal, async (end) => {
        const leaving = { name: node, addresses: () => addressesOf(node, end) };
        await removeMember(leaving, { access: etcd, dial }, end);
      });
    },
    close: api.close,
  };
}
