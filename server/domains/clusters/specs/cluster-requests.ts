import { InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import type {
  ControlPlaneMachineSpec,
  CreateClusterMsg,
  KubernetesLabel,
  MachineSpec,
  ScaleNodePoolSpec,
} from "../../../../gen/cnct/kaas/api/api_pb.ts";
import { type InstanceType, parseInstanceType } from "../bootstrap/instance-type.ts";
import { type KubernetesVersion, parseKubernetesVersion } from "../bootstrap/kubernetes-version.ts";
import {
  assertClusterName,
  assertControlPlaneCount,
  assertPoolCount,
  assertPoolName,
} from "../bootstrap/names.ts";
import { assertLabels, type NodeLabel } from "../bootstrap/node-labels.ts";
import { clusterReasons } from "../reasons.ts";
import { controlPlanePool } from "../reconcile/machines/machine-marks.ts";

/** Spec of a set of machines. */
export interface MachineSetSpec {
  readonly instanceType: InstanceType;
  readonly labels: readonly NodeLabel[];
  readonly count: number;
}

export interface NodePoolSpec extends MachineSetSpec {
  readonly name: string;
}

/** Spec of a cluster. */
export interface ClusterSpec {
  readonly name: string;
  /** Version of the pools; the control plane's version follows from it. */
  readonly version: KubernetesVersion;
  readonly controlPlane: MachineSetSpec;
  readonly pools: readonly NodePoolSpec[];
}

/** Desired number of machines in a pool. */
export interface PoolSize {
  readonly name: string;
  readonly count: number;
}

const maxPools = 100;

/** Parses and validates the spec of a cluster. @throws InfraError INVALID_FIELD, SCALE_TO_ZERO */
export function clusterSpecFrom(request: CreateClusterMsg): ClusterSpec {
  const { name, k8sVersion, controlPlaneNodes, workerNodePools } = request;
  assertClusterName(name, "name");
  const version = parseKubernetesVersion(k8sVersion, "k8s_version");
  const controlPlane = controlPlaneSpecFrom(controlPlaneNodes, "control_plane_nodes");
  return { name, version, controlPlane, pools: poolSpecsFrom(workerNodePools) };
}

/**
 * Parses the pools in a request's `worker_node_pools`.
 * @throws InfraError INVALID_FIELD, SCALE_TO_ZERO
 */
export function poolSpecsFrom(specs: readonly MachineSpec[]): readonly NodePoolSpec[] {
  const field = "worker_node_pools";
  assertPoolsCount(specs, field);
  const pools = specs.map((spec, index) => {
    assertNewPoolName(spec.name, `${field}[${index}].name`);
    return { name: spec.name, ...machineSetSpecFrom(spec, `${field}[${index}]`, assertPoolSize) };
  });
  assertNoneTwice(pools, field);
  return pools;
}

/**
 * Parses the new sizes in a request's `node_pools`.
 * @throws InfraError INVALID_FIELD, SCALE_TO_ZERO
 */
export function poolSizesFrom(specs: readonly ScaleNodePoolSpec[]): readonly PoolSize[] {
  const field = "node_pools";
  assertPoolsCount(specs, field);
  const sizes = specs.map(({ name, count }, index) => {
    assertPoolName(name, `${field}[${index}].name`);
    assertPoolSize(count, `${field}[${index}].count`);
    return { name, count };
  });
  assertNoneTwice(sizes, field);
  return sizes;
}

/**
 * Parses the names in a request's `node_pool_names`, without duplicates.
 * @throws InfraError INVALID_FIELD
 */
export function poolNamesFrom(names: readonly string[]): readonly string[] {
  assertPoolsCount(names, "node_pool_names");
  for (const [index, name] of names.entries()) {
    assertPoolName(name, `node_pool_names[${index}]`);
  }
  return [...new Set(names)];
}

/**
 * Rejects more pools than a cluster can have.
 * @throws InfraError INVALID_FIELD
 */
export function assertPoolsCount(pools: readonly unknown[], field: string): void {
  if (pools.length > maxPools) {
    throw invalidField(field, `expected at most ${maxPools} node pools, got ${pools.length}`);
  }
}

function controlPlaneSpecFrom(spec: ControlPlaneMachineSpec | undefined, field: string): MachineSetSpec {
  if (spec === undefined) {
    throw invalidField(field, "is required: a cluster has 1, 3 or 5 control-plane machines");
  }
  return machineSetSpecFrom(spec, field, assertControlPlaneCount);
}

function machineSetSpecFrom(
  spec: ControlPlaneMachineSpec | MachineSpec,
  field: string,
  assertCount: (count: number, field: string) => void,
): MachineSetSpec {
  const labels = spec.labels.map(({ name, value }: KubernetesLabel) => ({ name, value }));
  const instanceType = parseInstanceType(spec.instanceType, `${field}.instanceType`);
  assertLabels(labels, `${field}.labels`);
  assertCount(spec.count, `${field}.count`);
  return { instanceType, labels, count: spec.count };
}

function assertNewPoolName(name: string, field: string): void {
  assertPoolName(name, field);
  if (name === controlPlanePool) {
    throw invalidField(field, `${controlPlanePool} is reserved for the control plane`);
  }
}

function assertPoolSize(count: number, field: string): void {
  if (count === 0) {
    const description = "must be 1 or more; DeleteNodePool removes a pool with all of its machines";
    throw new InfraError(clusterReasons.SCALE_TO_ZERO, `${field}: ${description}`, {
      violations: [{ field, description }],
    });
  }
  assertPoolCount(count, field);
}

function assertNoneTwice(named: readonly { readonly name: string }[], field: string): void {
  for (const [index, { name }] of named.entries()) {
    if (named.findIndex((other) => other.name === name) !== index) {
      throw invalidField(`${field}[${index}].name`, "is a duplicate");
    }
  }
}
