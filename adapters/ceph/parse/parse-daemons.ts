import { z } from "zod";
import type { CephHost, CephMdss, CephMgrs, CephMons } from "../adapter.ts";
import { parseReply } from "./parse-reply.ts";
import { time } from "./parse-values.ts";

const monDump = z.object({
  created: time,
  modified: time,
  mons: z.array(z.object({ name: z.string(), rank: z.number().int() })),
  quorum: z.array(z.number().int()),
});

/** Parses `mon dump`. @throws InfraError CEPH_FAILED that names the invalid element */
export function parseMonDump(text: string): CephMons {
  const { mons, quorum, created, modified } = parseReply("mon dump", monDump, text);
  return {
    names: mons.map(({ name }) => name),
    quorum: mons.filter(({ rank }) => quorum.includes(rank)).map(({ name }) => name),
    mapCreatedAtMs: created,
    mapModifiedAtMs: modified,
  };
}

const mgrDump = z.object({
  available: z.boolean(),
  active_name: z.string(),
  active_change: time,
  standbys: z.array(z.object({ name: z.string() })),
});

/** Parses `mgr dump`. @throws InfraError CEPH_FAILED that names the invalid element */
export function parseMgrDump(text: string): CephMgrs {
  const { available, active_name, active_change, standbys } = parseReply("mgr dump", mgrDump, text);
  return {
    active: available && active_name !== "" ? active_name : undefined,
    standbys: standbys.map(({ name }) => name).toSorted(),
    activeChangedAtMs: active_change,
  };
}

const mds = z.object({ name: z.string(), state: z.string() });
const fsDump = z.object({
  standbys: z.array(mds),
  filesystems: z.array(
    z.object({
      mdsmap: z.object({
        fs_name: z.string(),
        max_mds: z.number().int(),
        // Metadata servers by their global ids.
        info: z.record(z.string(), mds),
      }),
    }),
  ),
});

/** Parses `fs dump`. @throws InfraError CEPH_FAILED that names the invalid element */
export function parseFsDump(text: string): CephMdss {
  const { filesystems, standbys } = parseReply("fs dump", fsDump, text);
  return {
    filesystems: filesystems.map(({ mdsmap }) => ({
      name: mdsmap.fs_name,
      maxRanks: mdsmap.max_mds,
      servers: Object.values(mdsmap.info)
        .map(({ name, state }) => ({ name, state }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    })),
    standbys: standbys.map(({ name }) => name).toSorted(),
  };
}

// {"mon": {"host": ["a"]}, "osd": {"host": [0, 1]}, ...}
const nodeList = z.record(z.string(), z.record(z.string(), z.array(z.union([z.string(), z.number()]))));

/**
 * Parses `node ls`, which lists monitors, managers, metadata servers and OSDs.
 * @throws InfraError CEPH_FAILED that names the invalid element
 */
export function parseNodeList(text: string): readonly CephHost[] {
  const daemonsOf = new Map<string, string[]>();
  for (const [kind, hosts] of Object.entries(parseReply("node ls", nodeList, text))) {
    for (const [host, ids] of Object.entries(hosts)) {
      const daemons = daemonsOf.get(host) ?? [];
      daemonsOf.set(host, [...daemons, ...ids.map((id) => `${kind}.${id}`)]);
    }
  }
  return [...daemonsOf]
    .map(([name, daemons]) => ({ name, daemons: daemons.toSorted() }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
