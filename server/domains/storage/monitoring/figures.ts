import type { CephAdapter, CephState } from "../../../../adapters/ceph/adapter.ts";
import { cephResource } from "../../../../adapters/ceph/names.ts";
import { cephReasons } from "../../../../adapters/ceph/reasons.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { Part } from "../../../../adapters/host/part-of-state.ts";
import type { KubernetesAdapter } from "../../../../adapters/kubernetes/adapter.ts";
import { kubernetesReasons } from "../../../../adapters/kubernetes/reasons.ts";
import type { FigureSource } from "../../../domain/figure-source.ts";
import { bytes, count } from "../../../domain/inventory-source.ts";
import type { SampledFigure, SampledSystem } from "../../../history/sampled-resource.ts";
import { storageResourceTypes } from "./resource-types.ts";

/** Space, traffic and OSDs of the Ceph cluster, under the name that it has in the inventory. */
export function createCephFigures(ceph: Pick<CephAdapter, "read">): FigureSource {
  return {
    domain: "storage",
    services: storageResourceTypes.services,
    async read(signal) {
      const { value, staleBecause } = await ceph.read(signal, { isWatching: false });
      if (staleBecause !== undefined) {
        throw new InfraError(cephReasons.CEPH_UNAVAILABLE, staleBecause);
      }
      return [clusterFigures(value)];
    },
  };
}

/** Ready nodes of the Kubernetes cluster that runs the storage. */
export function createNodeFigures(kubernetes: Pick<KubernetesAdapter, "read">): FigureSource {
  return {
    domain: "storage",
    services: storageResourceTypes.services,
    async read(signal) {
      const { value, staleBecause } = await kubernetes.read(signal);
      if (staleBecause !== undefined) {
        throw new InfraError(kubernetesReasons.KUBERNETES_UNAVAILABLE, staleBecause);
      }
      return [
        {
          name: "kubernetesNodes",
          figures: figuresOf(value.nodes, (nodes) => [
            count("nodes", nodes.length),
            count("nodes_ready", nodes.filter(({ isReady }) => isReady === true).length),
          ]),
        },
      ];
    },
  };
}

function clusterFigures({ fsid, usage, clientIo, recovery, osds }: CephState): SampledSystem {
  return {
    name: cephResource(fsid),
    figures: [
      ...figuresOf(usage, ({ totalBytes, usedBytes, availableBytes }) => [
        bytes("size", totalBytes),
        bytes("used", usedBytes),
        bytes("free", availableBytes),
      ]),
      ...figuresOf(clientIo, (io) => [
        bytesPerSecond("client_read", io.readBytesPerSecond),
        bytesPerSecond("client_write", io.writeBytesPerSecond),
        perSecond("client_reads", io.readsPerSecond),
        perSecond("client_writes", io.writesPerSecond),
      ]),
      ...figuresOf(recovery, (rate) => [bytesPerSecond("recovery", rate.bytesPerSecond)]),
      ...figuresOf(osds, (map) => [
        count("osds", map.osds.length),
        count("osds_up", map.osds.filter(({ isUp }) => isUp).length),
        count("osds_in", map.osds.filter(({ isIn }) => isIn).length),
      ]),
    ],
  };
}

function figuresOf<T>(
  part: Part<T>,
  figures: (value: T) => readonly SampledFigure[],
): readonly SampledFigure[] {
  return "ok" in part ? figures(part.ok) : [];
}

function bytesPerSecond(name: string, value: number): SampledFigure {
  return { name, value, unit: "bytes_per_second" };
}

function perSecond(name: string, value: number): SampledFigure {
  return { name, value, unit: "per_second" };
}
