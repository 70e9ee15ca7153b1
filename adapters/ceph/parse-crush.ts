import { z } from "zod";
import { parseReply } from "./parse-reply.ts";

const tree = z.object({
  nodes: z.array(
    z.object({
      id: z.number().int(),
      name: z.string(),
      type: z.string(),
      device_class: z.string().optional(),
      children: z.array(z.number().int()).default([]),
    }),
  ),
});

export interface CrushNode {
  readonly id: number;
  readonly name: string;
  /** `root`, `rack`, `host`, `osd`... */
  readonly type: string;
  readonly deviceClass: string | undefined;
  readonly children: readonly number[];
}

/** Where OSDs are, by the ids of nodes; an OSD's is its number. */
export type CrushTree = ReadonlyMap<number, CrushNode>;

/** Reads `osd tree`. @throws InfraError CEPH_FAILED that names the place at fault */
export function parseOsdTree(text: string): CrushTree {
  const { nodes } = parseReply("osd tree", tree, text);
  return new Map(nodes.map(({ device_class, ...node }) => [node.id, { ...node, deviceClass: device_class }]));
}

const rules = z.array(
  z.object({
    rule_id: z.number().int(),
    steps: z.array(
      z.object({
        op: z.string(),
        type: z.string().optional(),
        item_name: z.string().optional(),
      }),
    ),
  }),
);

/** How a rule places copies. */
export interface CrushRule {
  /** Where it begins, e.g. `default`, and the class it keeps to. */
  readonly root: string;
  readonly deviceClass: string | undefined;
  /** What no two copies share. */
  readonly failureDomain: string;
}

/**
 * Reads `osd crush rule dump`, by the numbers of rules. Rules that begin at several places are left out, since their copies
 * share what the parts of the rule have in common.
 * @throws InfraError CEPH_FAILED that names the place at fault
 */
export function parseCrushRules(text: string): ReadonlyMap<number, CrushRule> {
  const understood = new Map<number, CrushRule>();
  for (const { rule_id, steps } of parseReply("osd crush rule dump", rules, text)) {
    const takes = steps.filter(({ op }) => op === "take");
    // The last choice says it: the ones before only choose where it is made.
    const choice = steps.findLast(({ op }) => op.startsWith("choose"));
    const [take] = takes;
    if (takes.length === 1 && take?.item_name !== undefined && choice?.type !== undefined) {
      // A class is a tree of its own, `default~ssd`.
      const [root = "", deviceClass] = take.item_name.split("~");
      understood.set(rule_id, { root, deviceClass, failureDomain: choice.type });
    }
  }
  return understood;
}

/** How many nodes of the type have an OSD that the rule may use. */
export function countFailureDomains(nodes: CrushTree, rule: CrushRule): number {
  const holders = new Set<number>();
  const visit = (id: number, above: readonly number[]): void => {
    const node = nodes.get(id);
    // A damaged answer may go in a circle.
    if (node === undefined || above.includes(id)) {
      return;
    }
    const path = [...above, id];
    if (node.type === "osd" && (rule.deviceClass === undefined || rule.deviceClass === node.deviceClass)) {
      for (const each of path) {
        holders.add(each);
      }
    }
    for (const child of node.children) {
      visit(child, path);
    }
  };
  for (const node of nodes.values()) {
    if (node.name === rule.root && node.type !== "osd") {
      visit(node.id, []);
    }
  }
  return [...holders].filter((id) => nodes.get(id)?.type === rule.failureDomain).length;
}

/** Names of the hosts that OSDs are on, by the OSDs' numbers. */
export function hostsOfOsds(nodes: CrushTree): ReadonlyMap<number, string> {
  const hosts = [...nodes.values()].filter(({ type }) => type === "host");
  return new Map(hosts.flatMap(({ name, children }) => children.map((id) => [id, name] as const)));
}
