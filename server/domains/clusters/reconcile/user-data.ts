import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import type { MaasMachine } from "../../../../adapters/maas/machine.ts";
import { workloadReasons } from "../../../../adapters/workload/reasons.ts";
import { apiHostOf } from "../addresses/api-host.ts";
import { bootstrapTokenSecretFrom, createBootstrapToken } from "../bootstrap/bootstrap-token.ts";
import { caPublicKeyHashOf } from "../bootstrap/cluster-pki.ts";
import { parseInstanceType } from "../bootstrap/instance-type.ts";
import { createKubeadmRenderer } from "../bootstrap/kubeadm-renderer.ts";
import { parseKubernetesVersion } from "../bootstrap/kubernetes-version.ts";
import { nodeLabelsOf } from "../bootstrap/node-labels.ts";
import type { ClusterPlan, JoinTicket, NodePlan } from "../bootstrap/renderer.ts";
import { apiServerPort } from "../specs/cluster-settings.ts";
import type { SlotRecord } from "../store/records.ts";
import { endpointUnconfigured, reserveEndpoint } from "./endpoint-address.ts";
import { makesCluster } from "./machines/first-machine.ts";
import type { Pass } from "./pass.ts";
import { nodeNameOf } from "./plan/cluster-view.ts";

const renderer = createKubeadmRenderer();

/** Allowance for slow machines and inaccurate clocks. */
const slackMs = 10 * 60_000;

/**
 * Returns the user data for installing a machine, which is a secret. For a machine that joins, a token is created in the
 * cluster.
 * @throws InfraError as MAAS, the cluster and the store do
 */
export async function userDataOf(pass: Pass, slot: SlotRecord, machine: MaasMachine): Promise<string> {
  const node = nodePlanOf(slot);
  const plan = clusterPlanOf(pass, machine);
  const ttlMs = tokenTtlMs(pass);
  if (makesCluster(pass.cluster, pass.slots.all(), slot)) {
    await reserveEndpoint(pass);
    const { pki, firstToken } = await secretsFor(pass, ttlMs);
    return renderer.renderFirstControlPlane(plan, node, pki, firstToken);
  }
  const ticket = await ticketFor(pass, slot, ttlMs);
  return slot.pool === undefined
    ? renderer.renderControlPlane(plan, node, pass.secrets().pki, ticket)
    : renderer.renderWorker(plan, node, ticket);
}

function nodePlanOf(slot: SlotRecord): NodePlan {
  const name = nodeNameOf(slot);
  if (name === undefined) {
    throw new InfraError(hostReasons.INTERNAL, `machine ${slot.uid} has no name`);
  }
  return {
    name,
    version: parseKubernetesVersion(slot.k8sVersion, "k8s_version"),
    labels: nodeLabelsOf(slot.labels, parseInstanceType(slot.instanceType, "instance_type"), slot.pool),
  };
}

function clusterPlanOf({ cluster, tools }: Pass, { hostname, fqdn }: MaasMachine): ClusterPlan {
  const { kubeVipImage, network, cni, imageRepository } = tools.settings;
  const { name, endpoint } = cluster;
  if (endpoint !== undefined && kubeVipImage === undefined) {
    throw endpointUnconfigured(endpoint);
  }
  // The DNS name under which MAAS registers the reserved address.
  const domain = fqdn.startsWith(`${hostname}.`) ? fqdn.slice(hostname.length) : "";
  const certificateNames = [...new Set([`${name}-api`, `${name}-api${domain}`.toLowerCase()])];
  return {
    name,
    endpoint: endpoint === undefined ? undefined : { host: endpoint, port: apiServerPort },
    kubeVipImage: endpoint === undefined ? undefined : kubeVipImage,
    certificateNames: endpoint === undefined ? [] : certificateNames,
    network,
    cni,
    imageRepository,
  };
}

function tokenTtlMs({ tools }: Pass): number {
  const { deployTimeoutMs, joinTimeoutMs } = tools.settings;
  return deployTimeoutMs + joinTimeoutMs + slackMs;
}

async function secretsFor(pass: Pass, ttlMs: number) {
  const secrets = pass.secrets();
  const { expiresAt } = secrets.firstToken;
  return expiresAt.getTime() - Date.now() < ttlMs - slackMs ? pass.renewFirstToken(ttlMs) : secrets;
}

async function ticketFor(pass: Pass, slot: SlotRecord, ttlMs: number): Promise<JoinTicket> {
  const api = pass.api();
  const host = apiHostOf(pass.cluster, pass.slots.all());
  if (api === undefined || host === undefined) {
    throw new InfraError(
      workloadReasons.WORKLOAD_UNAVAILABLE,
      "the cluster has no running control-plane machine to join yet",
    );
  }
  if (slot.pool === undefined) {
    await pass.change("workload.setVersion", () => api.setVersion(slot.k8sVersion));
  }
  const token = createBootstrapToken(Date.now(), ttlMs);
  const secret = bootstrapTokenSecretFrom(token, `hostplane: for ${slot.hostname ?? slot.uid}`);
  await pass.change("workload.writeSecret", () => api.writeSecret(secret));
  return {
    endpoint: { host, port: apiServerPort },
    token,
    caPublicKeyHash: caPublicKeyHashOf(pass.secrets().pki),
  };
}
