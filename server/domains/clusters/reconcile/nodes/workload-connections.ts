import type {
  EtcdAccess,
  WorkloadAdapter,
  WorkloadCluster,
} from "../../../../../adapters/workload/adapter.ts";
import { createClientCertificate } from "../../bootstrap/certificate.ts";
import type { ClusterPki } from "../../bootstrap/cluster-pki.ts";
import { apiServerPort } from "../../specs/cluster-settings.ts";
import type { ClusterRecord, SlotRecord } from "../../store/records.ts";

/** Connections to clusters, reused across passes. */
export interface WorkloadConnections {
  /** Returns the connection to a cluster; a new one when the cluster's address or secrets have changed. */
  to(cluster: Pick<ClusterRecord, "uid" | "secretsVersion">, host: string, pki: ClusterPki): WorkloadCluster;
  /** Records whether a cluster has responded. @returns for how many milliseconds it has not responded; 0 when it has */
  noteAnswer(uid: string, isAnswered: boolean): number;
  /** Closes the connection to a cluster that no longer exists. */
  drop(uid: string): void;
  close(): Promise<void>;
}

interface Connection {
  readonly key: string;
  readonly cluster: WorkloadCluster;
}

/** Connections to clusters that other gateways now reconcile are closed. */
const maxConnections = 256;

/** Starts without connections. */
export function createWorkloadConnections(workload: WorkloadAdapter): WorkloadConnections {
  const connections = new Map<string, Connection>();
  const closing = new Set<Promise<void>>();
  /** Time since which each cluster has not responded, by uid (performance.now()). */
  const silentSinceMs = new Map<string, number>();

  function drop(uid: string): void {
    const ended = connections.get(uid)?.cluster.close();
    connections.delete(uid);
    if (ended !== undefined) {
      const done = ended.catch(() => {}).finally(() => closing.delete(done));
      closing.add(done);
    }
  }

  return {
    to({ uid, secretsVersion }, host, pki) {
      const key = `${secretsVersion} ${host}`;
      let connection = connections.get(uid);
      if (connection?.key === key) {
        connections.delete(uid);
      } else {
        drop(uid);
        const { admin, kubernetesCa } = pki;
        const cluster = workload.connect({
          host,
          port: apiServerPort,
          caCertificatePem: kubernetesCa.certificatePem,
          clientCertificatePem: admin.certificatePem,
          clientKeyPem: admin.privateKeyPem,
        });
        connection = { key, cluster };
      }
      // The map is in order of use, the most recently used last.
      connections.set(uid, connection);
      const [longestUnused] = connections.keys();
      if (connections.size > maxConnections && longestUnused !== undefined) {
        drop(longestUnused);
      }
      return connection.cluster;
    },
    noteAnswer(uid, isAnswered) {
      if (isAnswered) {
        silentSinceMs.delete(uid);
        return 0;
      }
      const nowMs = performance.now();
      const sinceMs = silentSinceMs.get(uid) ?? nowMs;
      silentSinceMs.set(uid, sinceMs);
      return nowMs - sinceMs;
    },
    drop(uid) {
      silentSinceMs.delete(uid);
      drop(uid);
    },
    async close() {
      for (const uid of [...connections.keys()]) {
        drop(uid);
      }
      await Promise.all(closing);
    },
  };
}

const hourMs = 3_600_000;

/**
 * Creates the access data for a cluster's etcd, with a short-lived client certificate.
 * @param members machines of its control plane
 */
export async function etcdAccessOf(
  { etcdCa }: ClusterPki,
  members: readonly Pick<SlotRecord, "ipAddress">[],
): Promise<EtcdAccess> {
  const nowMs = Date.now();
  const validity = { notBefore: new Date(nowMs - hourMs), notAfter: new Date(nowMs + hourMs) };
  const subject = { commonName: "hostplane", organization: "hostplane" };
  const client = await createClientCertificate(etcdCa, subject, validity);
  return {
    addresses: members.flatMap(({ ipAddress }) => ipAddress ?? []),
    caCertificatePem: etcdCa.certificatePem,
    clientCertificatePem: client.certificatePem,
    clientKeyPem: client.privateKeyPem,
  };
}
