import { InfraError } from "../host/infra-error.ts";
import type { Part } from "../host/part-of-state.ts";
import type { CephMdss, CephPool, CephState } from "./adapter.ts";
import { createLane } from "./lane.ts";
import type { RadosOptions } from "./librados.ts";
import { parseCrashes } from "./parse/parse-crashes.ts";
import { parseCrushRules, parseOsdTree } from "./parse/parse-crush.ts";
import { parseFsDump, parseMgrDump, parseMonDump, parseNodeList } from "./parse/parse-daemons.ts";
import { osdsFromMap, parseOsdDump, poolsFromMap } from "./parse/parse-osd-map.ts";
import { parseStatus } from "./parse/parse-status.ts";
import { parseDf, parseOsdDf } from "./parse/parse-usage.ts";
import { bothParts, createSlowPart, mapPart, partOf } from "./part.ts";
import { readPoolScrubs } from "./pool-scrubs.ts";
import type { RadosClient } from "./rados-client.ts";
import { cephReasons } from "./reasons.ts";
import { countRbdImages, countSubvolumes } from "./volume-counts.ts";

export interface StateReaderOptions {
  /** Timeouts for monitors, manager and OSDs; parts that take longer are missing. */
  readonly patienceMs: { readonly mon: number; readonly mgr: number; readonly osd: number };
  /** Intervals of reading expensive parts: OSD usage and volume counts; and the scrubs of all placement groups. */
  readonly slowMs: number;
  readonly scrubsMs: number;
}

/** Creates a function that reads the state of a cluster. It must not be called again before it has ended. */
export function createStateReader(
  client: RadosClient,
  as: RadosOptions,
  { patienceMs, slowMs, scrubsMs }: StateReaderOptions,
): () => Promise<CephState> {
  const lanes = {
    mon: createLane("the monitors", patienceMs.mon),
    mgr: createLane("the manager", patienceMs.mgr),
  };
  const osdUsage = createSlowPart<ReturnType<typeof parseOsdDf>>(slowMs, patienceMs.mgr);
  const subvolumeCount = createSlowPart<number>(slowMs, patienceMs.mgr);
  const rbdImageCount = createSlowPart<number>(slowMs, patienceMs.osd);
  const scrubs = createSlowPart<ReturnType<typeof readPoolScrubs>>(scrubsMs, patienceMs.mgr);

  async function query<T>(target: "mon" | "mgr", prefix: string, parse: (text: string) => T): Promise<T> {
    return parse(await lanes[target].run(() => client.command(target, { prefix }, as)));
  }

  /**
   * @throws InfraError as `RadosClient.command`, if the monitors do not return the status, without which all other
   * parts are useless
   */
  return async () => {
    const status = await query("mon", "status", parseStatus);
    const ofMgr = <T>(read: () => Promise<Part<T>>): Promise<Part<T>> =>
      status.isMgrAvailable ? read() : Promise.resolve({ missing: "no manager is active" });
    const [mons, mgrs, mdss, hosts, osdMap, nodes, rules, df, crashes, usageOfOsds, scrubbed] =
      await Promise.all([
        partOf(query("mon", "mon dump", parseMonDump)),
        partOf(query("mon", "mgr dump", parseMgrDump)),
        partOf(query("mon", "fs dump", parseFsDump)),
        partOf(query("mon", "node ls", parseNodeList)),
        partOf(query("mon", "osd dump", parseOsdDump)),
        partOf(query("mon", "osd tree", parseOsdTree)),
        partOf(query("mon", "osd crush rule dump", parseCrushRules)),
        ofMgr(() => partOf(lanes.mon.run(async () => parseDf(await client.command("mon", dfDetail, as))))),
        ofMgr(() => partOf(query("mgr", "crash ls", parseCrashes))),
        ofMgr(() =>
          osdUsage.get(async () => parseOsdDf(await client.command("mgr", { prefix: "osd df" }, as))),
        ),
        ofMgr(() => scrubs.get(async () => readPoolScrubs(await client.poolScrubs(as)))),
      ]);
    const osdMapAndTree = bothParts(osdMap, nodes);
    const pools = mapPart(bothParts(osdMapAndTree, rules), ([[map, tree], crushRules]) =>
      poolsFromMap(map, tree, crushRules, "ok" in df ? df.ok : undefined),
    );
    const [images, subvolumes] = await Promise.all([
      rbdImageCount.get(() => countRbdImages(client, as, requirePart<readonly CephPool[]>(pools))),
      ofMgr(() => subvolumeCount.get(() => countSubvolumes(client, as, requirePart<CephMdss>(mdss)))),
    ]);
    // Only the manager keeps statistics; the monitors repeat its last values.
    const counted = <T>(value: T): Part<T> =>
      status.isMgrAvailable ? { ok: value } : { missing: "no manager is active" };
    return {
      fsid: status.fsid,
      health: status.health,
      slowOperationCount: status.slowOperationCount,
      // The map may be older than the status.
      mons: mapPart(mons, (each) => ({ ...each, quorum: status.quorum })),
      mgrs,
      mdss,
      osds: mapPart(osdMapAndTree, ([map, tree]) => osdsFromMap(map, tree)),
      rgws: { ok: status.rgws },
      hosts,
      pools,
      pgs: counted(status.pgs),
      objects: mapPart(df, ({ storedBytes }) => ({ count: status.objectCount, storedBytes })),
      usage: mapPart(df, ({ usedBytes, availableBytes, totalBytes }) => ({
        usedBytes,
        availableBytes,
        totalBytes,
      })),
      clientIo: counted(status.clientIo),
      recovery: counted(status.recovery),
      crashes,
      osdUsage: usageOfOsds,
      rbdImageCount: images,
      subvolumeCount: subvolumes,
      scrubs: scrubbed,
    };
  };
}

const dfDetail = { prefix: "df", detail: "detail" };

function requirePart<T>(part: Part<T>): T {
  if ("missing" in part) {
    throw new InfraError(cephReasons.CEPH_UNAVAILABLE, part.missing);
  }
  return part.ok;
}
