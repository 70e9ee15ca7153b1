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
import type { AdminClient } from "./admin-client.ts";
import { koorLines } from "./koor-lines.ts";
import type { ExitCode } from "./output.ts";
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
import { withoutMissing } from "./without-missing.ts";

export interface ListCrashesOptions extends AdminOptions {
  /** Also those that are archived. */
  readonly archived?: boolean;
}

/** Prints the figures of the Ceph cluster; what could not be read, to stderr. */
export function showStats(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return show(options, context, async ({ stats: client }, call, headers) => {
    const { stats } = await client.getClusterStats({}, call);
    const missing = () => missingIn(headers());
    return stats && { json: jsonOf(ClusterStatsSchema, stats), lines: () => statsLines(stats, missing()) };
  });
}

/** Prints the five scores, and what each was made of. */
export function showRadar(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return show(options, context, async ({ stats: client }, call, headers) => {
    const { radar } = await client.getClusterRadar({}, call);
    const because = () => headers().get("hostplane-radar") ?? "";
    return radar && { json: jsonOf(ClusterRadarSchema, radar), lines: () => radarLines(radar, because()) };
  });
}

/** Prints the pools, as a table or as a JSON array of the contract's messages. */
export function listPools(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return show(options, context, async ({ storage }, call) => {
    const { pools } = await storage.listPools({}, call);
    return { json: pools.map((pool) => jsonOf(CephPoolSchema, pool)), lines: () => poolLines(pools) };
  });
}

/** Prints the OSDs likewise. */
export function listOsds(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return show(options, context, async ({ storage }, call) => {
    const { osds } = await storage.listOsds({}, call);
    return { json: osds.map((osd) => jsonOf(CephOsdSchema, osd)), lines: () => osdLines(osds) };
  });
}

/** Prints the crashes likewise. */
export function listCrashes(options: ListCrashesOptions, context: CommandContext): Promise<ExitCode> {
  return show(options, context, async ({ storage }, call) => {
    const { crashes } = await storage.listCrashes({ archived: options.archived === true }, call);
    return {
      json: crashes.map((crash) => jsonOf(CephCrashSchema, crash)),
      lines: () => crashLines(crashes),
    };
  });
}

/** Archives a crash, and prints it as it is then. */
export function archiveCrash(id: string, options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return show(options, context, async ({ storage }, call) => {
    const { crash } = await storage.archiveCrash({ id }, call);
    return crash && { json: jsonOf(CephCrashSchema, crash), lines: () => crashLines([crash]) };
  });
}

/** Prints the storage nodes, as a table or as a JSON array of the contract's messages. */
export function listNodes(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return show(options, context, async ({ stats }, call) => {
    const { nodes } = await stats.getClusterNodes({}, call);
    return { json: nodes.map((node) => jsonOf(NodeInfoSchema, node)), lines: () => nodeLines(nodes) };
  });
}

/** Prints Rook's resources and the Deployments, as a table or as the contract's answer. */
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

/** Prints the KoorCluster: what it asks for, and what its operator reports. */
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

/** @param ask is given options for its call, and where the headers of the answer are then */
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
  // Only a gateway that runs knows of the cluster.
  return runAdminCommand(options, context, work, { mustRun: true });
}

/** Fields of the answer that could not be read. */
function missingIn(headers: Headers): string[] {
  return headers.get("hostplane-missing")?.split(", ") ?? [];
}

function jsonOf<Schema extends DescMessage>(schema: Schema, message: MessageShape<Schema>): unknown {
  return toJson(schema, message, { alwaysEmitImplicit: true });
}
