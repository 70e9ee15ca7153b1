import { invalidField } from "../../../../adapters/host/infra-error.ts";
import { isDnsName } from "./dns-name.ts";
import type { InstanceType } from "./instance-type.ts";

/** A label of a Kubernetes node. */
export interface NodeLabel {
  readonly name: string;
  readonly value: string;
}

/** All labels form one argument of the kubelet, and Linux limits an argument to 128 KiB. */
const maxLabels = 64;
const maxLength = 63;

const nameOrValue = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/**
 * Labels and prefixes in Kubernetes' own domains that a kubelet accepts; with any other it does not start
 * (k8s.io/kubelet/pkg/apis 0.36).
 */
const kubeletLabels = [
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
];
const kubeletPrefixes = ["kubelet.kubernetes.io", "node.kubernetes.io"];

const poolLabel = "node-pool";
/** The second is for clients older than Kubernetes 1.17. */
const instanceTypeLabels = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];
/** Set by the kubelet per machine, or by `nodeLabelsOf`: one value for all machines would be wrong. */
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
 * Rejects labels that Kubernetes does not accept, that a kubelet may not set on its own node, or that nodes get anyway; also
 * duplicate names. Accepted labels contain no space, comma, equals sign or quote.
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
      throw invalidField(`${field}[${index}].name`, "is a duplicate");
    }
    names.add(name);
    if (value !== "" && !isNameOrValue(value)) {
      throw invalidField(
        `${field}[${index}].value`,
        `expected an empty value, or at most ${maxLength} letters, digits and - _ . that start and end with a letter or digit`,
      );
    }
  }
}

/**
 * Returns all labels of a node: the requested ones, the instance type, and the pool.
 * @param poolName undefined for a control-plane machine
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
    throw invalidField(field, "expected a lowercase DNS name before the slash");
  }
  if (!isNameOrValue(name.slice(slash + 1))) {
    throw invalidField(
      field,
      `expected 1 to ${maxLength} letters, digits and - _ . starting and ending with a letter or digit, optionally preceded by a DNS name and a slash`,
    );
  }
  if (ownLabels.includes(name)) {
    throw invalidField(field, "is set on every node automatically");
  }
  if (prefix !== undefined && isKubernetesDomain(prefix) && !isOfKubelet(name, prefix)) {
    const allowed = [...kubeletPrefixes.map((each) => `${each}/…`), ...kubeletLabels].join(", ");
    throw invalidField(field, `of the labels in kubernetes.io and k8s.io, a node may only set ${allowed}`);
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
