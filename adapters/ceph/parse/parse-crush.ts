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
  /** `root`, `rack`, `host`, `osd`, ... */
  readonly type: string;
  readonly deviceClass: string | undefined;
  readonly children: readonly number[];
}

/** The CRUSH hierarchy by node ids; the id of an OSD is its number. */
export type CrushTree = ReadonlyMap<number, CrushNode>;

/** Parses `osd tree`. @throws InfraError CEPH_FAILED that names the invalid element */
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

/** Placement of copies by a rule. */
export interface CrushRule {
  /** The node where it starts, e.g. `default`, and its device class. */
  readonly root: string;
  readonly deviceClass: string | undefined;
  /** Type of the failure domain. */
  readonly failureDomain: string;
}

/**
 * Parses `osd crush rule dump`, by rule number. Rules with several starting nodes are left out, since each part of such
 * a rule has its own failure domain.
 * @throws InfraError CEPH_FAILED that names the invalid element
 */
export function parseCrushRules(text: string): ReadonlyMap<number, CrushRule> {
  const understood = new Map<number, CrushRule>();
  for (const { rule_id, steps } of parseReply("osd crush rule dump", rules, text)) {
    const takes = steps.filter(({ op }) => op === "take");
    // The last choose step sets the failure domain; earlier ones only narrow down where it is applied.
    const choice = steps.findLast(({ op }) => op.startsWith("choose"));
    const [take] = takes;
    if (takes.length === 1 && take?.item_name !== undefined && choice?.type !== undefined) {
      // A device class has a tree of its own, `default~ssd`.
      const [root = "", deviceClass] = take.item_name.split("~");
      understood.set(rule_id, { root, deviceClass, failureDomain: choice.type });
    }
  }
  return understood;
}

/** Counts the nodes of the failure domain's type that have an OSD which the rule may use. */
export function countFailureDomains(nodes: CrushTree, rule: CrushRule): number {
  const holders = new Set<number>();
  const visit = (id: number, above: readonly number[]): void => {
    const node = nodes.get(id);
    // A corrupt reply may contain a cycle.
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

/** Maps the numbers of OSDs to the names of their hosts. */
export function hostsOfOsds(nodes: CrushTree): ReadonlyMap<number, string> {
  const hosts = [...nodes.values()].filter(({ type }) => type === "host");
  return new Map(hosts.flatMap(({ name, children }) => children.map((id) => [id, name] as const)));
}
