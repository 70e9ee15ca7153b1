import { dirname } from "node:path";
import { z } from "zod";
import type { RuntimeInfo } from "./adapter.ts";
import type { PodmanClient } from "./client.ts";
import { parseReply } from "./parse-reply.ts";

const info = z.object({
  host: z.object({
    eventLogger: z.string().default(""),
    logDriver: z.string().default(""),
    security: z.object({ rootless: z.boolean().default(false) }).optional(),
  }),
  store: z.object({ graphRoot: z.string(), configFile: z.string().default("") }),
  version: z.object({ Version: z.string() }),
});

/** What Podman tells of itself. */
export interface PodmanInfo extends RuntimeInfo {
  /** Where it records events: `file`, `journald` or `none`. */
  readonly eventLogger: string;
  /** Where containers' output goes unless they are told otherwise, as `k8s-file`. */
  readonly logDriver: string;
  readonly isRootless: boolean;
}

/** Takes 0.9 s of Podman 4.3.1. @throws InfraError as the client, PODMAN_FAILED */
export async function readInfo(client: PodmanClient, signal?: AbortSignal): Promise<PodmanInfo> {
  return parseInfo(await client.text("info", signal));
}

/** Reads the reply to `info`. @throws InfraError PODMAN_FAILED */
export function parseInfo(text: string): PodmanInfo {
  const { host, store, version } = parseReply("info", info, text);
  return {
    name: "Podman",
    version: version.Version,
    storeDirectory: store.graphRoot,
    configDirectory: store.configFile === "" ? "" : dirname(store.configFile),
    eventLogger: host.eventLogger,
    logDriver: host.logDriver,
    isRootless: host.security?.rootless ?? false,
  };
}
