import type { EtcdAccess, WorkloadAccess } from "../../../adapters/workload/adapter.ts";
import type { BootedMachine } from "../../../adapters/workload/fake/boot.ts";
import type { ApiEndpoint } from "../../../server/domains/clusters/bootstrap/api-endpoint.ts";
import {
  type BootstrapToken,
  createBootstrapToken,
} from "../../../server/domains/clusters/bootstrap/bootstrap-token.ts";
import { createClientCertificate } from "../../../server/domains/clusters/bootstrap/certificate.ts";
import {
  type ClusterPki,
  caPublicKeyHashOf,
  createClusterPki,
} from "../../../server/domains/clusters/bootstrap/cluster-pki.ts";
import { createKubeadmRenderer } from "../../../server/domains/clusters/bootstrap/kubeadm-renderer.ts";
import { parseKubernetesVersion } from "../../../server/domains/clusters/bootstrap/kubernetes-version.ts";
import { nodeLabelsOf } from "../../../server/domains/clusters/bootstrap/node-labels.ts";
import type { ClusterPlan } from "../../../server/domains/clusters/bootstrap/renderer.ts";

const renderer = createKubeadmRenderer();
const hourMs = 3_600_000;

/** The keys of a cluster, and the user data of its machines. */
export interface ClusterRecipe {
  readonly pki: ClusterPki;
  readonly token: BootstrapToken;
  readonly access: WorkloadAccess;
  init(name: string, version?: string): string;
  joinControlPlane(name: string, token?: BootstrapToken): string;
  joinWorker(name: string, token?: BootstrapToken): string;
  etcdAccess(addresses: readonly string[]): Promise<EtcdAccess>;
}

export function newToken(): BootstrapToken {
  return createBootstrapToken(Date.now(), hourMs);
}

/**
 * Creates a cluster's keys and user data as the gateway would. @param isFixed whether its endpoint is separate from the
 * machines
 */
export async function clusterRecipe(
  clusterName: string,
  endpoint: ApiEndpoint,
  isFixed = true,
): Promise<ClusterRecipe> {
  const pki = await createClusterPki(Date.now());
  const token = newToken();
  const plan: ClusterPlan = {
    name: clusterName,
    endpoint: isFixed ? endpoint : undefined,
    kubeVipImage: isFixed ? "kube-vip:v1.0.1" : undefined,
    certificateNames: [`${clusterName}-api.maas`],
    network: { podSubnet: "10.244.0.0/16", serviceSubnet: "10.96.0.0/12", dnsDomain: "cluster.local" },
    cni: { manifest: "apiVersion: v1\nkind: List\nitems: []\n" },
    imageRepository: undefined,
  };
  const node = (name: string, version: string) => ({
    name,
    version: parseKubernetesVersion(version, "version"),
    labels: nodeLabelsOf([{ name: "team", value: "red" }], "standard", "blue"),
  });
  const ticket = (ofToken: BootstrapToken) => ({
    endpoint,
    token: ofToken,
    caPublicKeyHash: caPublicKeyHashOf(pki),
  });
  return {
    pki,
    token,
    access: {
      ...endpoint,
      caCertificatePem: pki.kubernetesCa.certificatePem,
      clientCertificatePem: pki.admin.certificatePem,
      clientKeyPem: pki.admin.privateKeyPem,
    },
    init: (name, version = "1.35.4") =>
      renderer.renderFirstControlPlane(plan, node(name, version), pki, token),
    joinControlPlane: (name, ofToken = token) =>
      renderer.renderControlPlane(plan, node(name, "1.35.4"), pki, ticket(ofToken)),
    joinWorker: (name, ofToken = token) => renderer.renderWorker(plan, node(name, "1.35.4"), ticket(ofToken)),
    async etcdAccess(addresses) {
      const client = await etcdClient(pki);
      return { addresses, caCertificatePem: pki.etcdCa.certificatePem, ...client };
    },
  };
}

/** Creates a client certificate that etcd accepts. */
export async function etcdClient(pki: ClusterPki) {
  const validity = { notBefore: new Date(Date.now() - hourMs), notAfter: new Date(Date.now() + hourMs) };
  const subject = { commonName: "hostplane", organization: "hostplane" };
  const { certificatePem, privateKeyPem } = await createClientCertificate(pki.etcdCa, subject, validity);
  return { clientCertificatePem: certificatePem, clientKeyPem: privateKeyPem };
}

/** Machines that a test installs and removes. */
export interface MachinePark {
  readonly machines: () => readonly BootedMachine[];
  /** @param address 10.20.0.N by default */
  install(hostname: string, userData: string, more?: Partial<BootedMachine>): BootedMachine;
  release(hostname: string): void;
}

export function createMachinePark(): MachinePark {
  const machines = new Map<string, BootedMachine>();
  let count = 0;
  return {
    machines: () => [...machines.values()],
    install(hostname, userData, more = {}) {
      count += 1;
      const machine: BootedMachine = {
        systemId: `sys${count}`,
        hostname,
        address: `10.20.0.${count + 10}`,
        userData,
        // Makes two within one millisecond distinct.
        deployedAtMs: Date.now() - 1_000 + count / 1_000,
        ...more,
      };
      machines.set(hostname, machine);
      return machine;
    },
    release(hostname) {
      machines.delete(hostname);
    },
  };
}
