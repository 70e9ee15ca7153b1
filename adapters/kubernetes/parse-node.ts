import { z } from "zod";
import type { KubernetesNode } from "./adapter.ts";
import { conditionOf, metadata, orElse, status, text } from "./parse-objects.ts";

const noStatus = { conditions: [], addresses: [], nodeInfo: { kubeletVersion: "" } };

const nodeStatus = status.extend({
  addresses: orElse(z.array(z.object({ type: z.string(), address: z.string() })), []),
  nodeInfo: orElse(z.object({ kubeletVersion: text }), noStatus.nodeInfo),
});

export const node = z
  .object({ metadata, status: orElse(nodeStatus, noStatus) })
  .transform(({ metadata: { name, labels, creationTimestamp }, status: found }): KubernetesNode => {
    function addressOf(...types: readonly string[]): string {
      const addresses = types.flatMap((type) => found.addresses.filter((each) => each.type === type));
      return addresses[0]?.address ?? "";
    }
    return {
      name,
      isReady: conditionOf(found, "Ready")?.isMet,
      roles: rolesOf(labels),
      internalIp: addressOf("InternalIP", "InternalDNS"),
      externalIp: addressOf("ExternalIP", "ExternalDNS"),
      createdAtMs: creationTimestamp,
      zone: labels["topology.kubernetes.io/zone"] || undefined,
      rookTopology: labelsBelow(labels, "topology.rook.io/"),
      kubeletVersion: found.nodeInfo.kubeletVersion,
    };
  });

function rolesOf(labels: Readonly<Record<string, string>>): readonly string[] {
  const byKey = labelsBelow(labels, "node-role.kubernetes.io/").keys();
  return [...new Set([...byKey, labels["kubernetes.io/role"] ?? ""])].filter((role) => role !== "").sort();
}

/** Returns the labels with a prefix, without the prefix. */
function labelsBelow(labels: Readonly<Record<string, string>>, prefix: string): ReadonlyMap<string, string> {
  const below = Object.entries(labels).filter(([key]) => key.startsWith(prefix));
  return new Map(below.map(([key, value]) => [key.slice(prefix.length), value]));
}
