import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";
import type { CallOptions } from "@connectrpc/connect";
import { CephCrashSchema, CephOsdSchema, CephPoolSchema } from "../../gen/hostplane/v1/storage_pb.ts";
import {
  ClusterRadarSchema,
  ClusterStatsSchema,
  KoorClusterSchema,
  NodeInfoSchema,
} from "../../gen/resources/stats/stats_pb.ts";
import { GetClusterResourcesResponseSchema } from "../../gen/stats/stats_pb.ts";
import type { ExitCode } from "../cli/table/output.ts";
import type { AdminClient } from "../cli/target/admin-client.ts";
import { withoutMissing } from "../cli/without-missing.ts";
import { koorLines } from "./koor-lines.ts";
import { type AdminOptions, type CommandContext, runAdminCommand } from "./run-admin-command.ts";
import {
  crashLines,
  nodeLines,
  osdLines,
  poolLines,
  radarLines,
  resourceLines,
  statsLines,
} from "./storage-lines.ts";

export interface ListCrashesOptions extends AdminOptions {
  /** Include archived crashes. */
  readonly archived?: boolean;
}

/** Prints the figures of the Ceph cluster. Lists those that could not be read on stderr. */
export function showStats(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return show(options, context, async ({ stats: client }, call, headers) => {
    const { stats } = await client.getClusterStats({}, call);
    const missing = () => missingIn(headers());
    return stats && { json: jsonOf(ClusterStatsSchema, stats), lines: () => statsLines(stats, missing()) };
  });
}

/** Prints the five scores, and how each was computed. */
export function showRadar(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return show(options, context, async ({ stats: client }, call, headers) => {
    const { radar } = await client.getClusterRadar({}, call);
    const because = () => headers().get("hostplane-radar") ?? "";
    return radar && { json: jsonOf(ClusterRadarSchema, radar), lines: () => radarLines(radar, because()) };
  });
}

/** Prints the pools, as a table or as a JSON array of the API's messages. */
export function listPools(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return show(options, context, async ({ storage }, call) => {
    const { pools } = await storage.listPools({}, call);
    return { json: pools.map((pool) => jsonOf(CephPoolSchema, pool)), lines: () => poolLines(pools) };
  });
}

/** Prints the OSDs, as a table or as a JSON array of the API's messages. */
export function listOsds(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return show(options, context, async ({ storage }, call) => {
    const { osds } = await storage.listOsds({}, call);
    return { json: osds.map((osd) => jsonOf(CephOsdSchema, osd)), lines: () => osdLines(osds) };
  });
}

/** Prints the crashes, as a table or as a JSON array of the API's messages. */
export function listCrashes(options: ListCrashesOptions, context: CommandContext): Promise<ExitCode> {
  return show(options, context, async ({ storage }, call) => {
    const { crashes } = await storage.listCrashes({ archived: options.archived === true }, call);
    return {
      json: crashes.map((crash) => jsonOf(CephCrashSchema, crash)),
      lines: () => crashLines(crashes),
    };
  });
}

/** Archives a crash and prints its new state. */
export function archiveCrash(id: string, options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return show(options, context, async ({ storage }, call) => {
    const { crash } = await storage.archiveCrash({ id }, call);
    return crash && { json: jsonOf(CephCrashSchema, crash), lines: () => crashLines([crash]) };
  });
}

/** Prints the storage nodes, as a table or as a JSON array of the API's messages. */
export function listNodes(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return show(options, context, async ({ stats }, call) => {
    const { nodes } = await stats.getClusterNodes({}, call);
    return { json: nodes.map((node) => jsonOf(NodeInfoSchema, node)), lines: () => nodeLines(nodes) };
  });
}

/** Prints Rook's resources and the Deployments, as a table or as the API's response. */
export function listResources(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return show(options, context, async ({ stats }, call) => {
    const answer = await stats.getClusterResources({}, call);
    const { resources, deployments } = answer;
    return {
      json: jsonOf(GetClusterResourcesResponseSchema, answer),
      lines: () => resourceLines([...resources, ...deployments]),
    };
  });
}

/** Prints the KoorCluster: its spec, and the status reported by its operator. */
export function showKoorCluster(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return show(options, context, async ({ stats }, call) => {
    const { koorCluster } = await stats.getKoorCluster({}, call);
    return (
      koorCluster && { json: jsonOf(KoorClusterSchema, koorCluster), lines: () => koorLines(koorCluster) }
    );
  });
}

interface Shown {
  readonly json: unknown;
  lines(): readonly string[];
}

/**
 * Runs a call and prints its result.
 * @param ask receives the call options, and a function that returns the response headers once the call is done
 */
async function show(
  options: AdminOptions,
  context: CommandContext,
  ask: (client: AdminClient, call: CallOptions, headers: () => Headers) => Promise<Shown | undefined>,
): Promise<ExitCode> {
  const { output } = context;
  const work = async (client: AdminClient) => {
    let headers = new Headers();
    const onHeader = (received: Headers) => {
      headers = received;
    };
    const shown = await ask(client, { onHeader }, () => headers);
    const missing = missingIn(headers);
    if (missing.length > 0) {
      output.err(`could not be read: ${missing.join(", ")}`);
    }
    if (shown !== undefined) {
      const json = () => JSON.stringify(withoutMissing(shown.json, missing), null, 2);
      const lines = options.json === true ? [json()] : shown.lines();
      for (const line of lines) {
        output.out(line);
      }
    }
  };
  // The cluster is known only to a running gateway.
  return runAdminCommand(options, context, work, { mustRun: true });
}

/** Returns the response fields that could not be read. */
function missingIn(headers: Headers): string[] {
  return headers.get("hostplane-missing")?.split(", ") ?? [];
}

function jsonOf<Schema extends DescMessage>(schema: Schema, message: MessageShape<Schema>): unknown {
  return toJson(schema, message, { alwaysEmitImplicit: true });
}
