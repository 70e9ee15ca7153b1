import { invalidField } from "../../../../adapters/host/infra-error.ts";
import { isDnsName } from "./dns-name.ts";
import type { InstanceType } from "./instance-type.ts";

/** A label of a Kubernetes node. */
export interface NodeLabel {
  readonly name: string;
  readonly value: string;
}

/** All of them stand in one argument of the kubelet, of which Linux takes 128 KiB. */
const maxLabels = 64;
const maxLength = 63;

const nameOrValue = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** Of Kubernetes' own domains a kubelet takes these labels and prefixes, or it does not start (k8s.io/kubelet/pkg/apis 0.36). */
const kubeletLabels = [
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
];
const kubeletPrefixes = ["kubelet.kubernetes.io", "node.kubernetes.io"];

const poolLabel = "node-pool";
/** The second is what clients of before Kubernetes 1.17 select by. */
const instanceTypeLabels = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];
/** Told by the kubelet of its machine, or by `nodeLabelsOf`: one value for all machines would be wrong. */
const ownLabels = [
  poolLabel,
  ...instanceTypeLabels,
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
];

/**
 * Refuses labels that Kubernetes does not take, that a kubelet may not give its own node, or that nodes get anyway; and two of
 * one name. Labels that pass hold neither space, comma, equals sign nor quote.
 * @param field the request's list, e.g. `worker_node_pools[0].labels`
 * @throws InfraError INVALID_FIELD
 */
export function assertLabels(labels: readonly NodeLabel[], field: string): void {
  if (labels.length > maxLabels) {
    throw invalidField(field, `expected at most ${maxLabels} labels, got ${labels.length}`);
  }
  const names = new Set<string>();
  for (const [index, { name, value }] of labels.entries()) {
    assertLabelName(name, `${field}[${index}].name`);
    if (names.has(name)) {
      throw invalidField(`${field}[${index}].name`, "is there twice");
    }
    names.add(name);
    if (value !== "" && !isNameOrValue(value)) {
      throw invalidField(
        `${field}[${index}].value`,
        `expected nothing, or at most ${maxLength} letters, digits and - _ . with a letter or digit at both ends`,
      );
    }
  }
}

/**
 * All labels of a node: those asked for, what kind of machine it is, and its pool.
 * @param poolName undefined for a machine of the control plane
 */
export function nodeLabelsOf(
  labels: readonly NodeLabel[],
  instanceType: InstanceType,
  poolName: string | undefined,
): readonly NodeLabel[] {
  const pool = poolName === undefined ? [] : [{ name: poolLabel, value: poolName }];
  return [...labels, ...instanceTypeLabels.map((name) => ({ name, value: instanceType })), ...pool];
}

function assertLabelName(name: string, field: string): void {
  const slash = name.indexOf("/");
  const prefix = slash === -1 ? undefined : name.slice(0, slash);
  if (prefix !== undefined && !isDnsName(prefix)) {
    throw invalidField(field, "expected a DNS name in small letters in front of the slash");
  }
  if (!isNameOrValue(name.slice(slash + 1))) {
    throw invalidField(
      field,
      `expected 1 to ${maxLength} letters, digits and - _ . with a letter or digit at both ends, and a DNS name with a slash in front or none`,
    );
  }
  if (ownLabels.includes(name)) {
    throw invalidField(field, "is a label that every node gets by itself");
  }
  if (prefix !== undefined && isKubernetesDomain(prefix) && !isOfKubelet(name, prefix)) {
    const allowed = [...kubeletPrefixes.map((each) => `${each}/…`), ...kubeletLabels].join(", ");
    throw invalidField(
      field,
      `of kubernetes.io and k8s.io, a node can give itself ${allowed}, and no other label`,
    );
  }
}

function isNameOrValue(text: string): boolean {
  return text.length <= maxLength && nameOrValue.test(text);
}

function isKubernetesDomain(prefix: string): boolean {
  return ["kubernetes.io", "k8s.io"].some((domain) => isInDomain(prefix, domain));
}

function isOfKubelet(name: string, prefix: string): boolean {
  return kubeletLabels.includes(name) || kubeletPrefixes.some((domain) => isInDomain(prefix, domain));
}

function isInDomain(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}
