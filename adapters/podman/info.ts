import { dirname } from "node:path";
import { z } from "zod";
import type { RuntimeInfo } from "./adapter.ts";
import type { PodmanClient } from "./client.ts";
import { parseReply } from "./parse/parse-reply.ts";

const info = z.object({
  host: z.object({
    eventLogger: z.string().default(""),
    logDriver: z.string().default(""),
    security: z.object({ rootless: z.boolean().default(false) }).optional(),
  }),
  store: z.object({ graphRoot: z.string(), configFile: z.string().default("") }),
  version: z.object({ Version: z.string() }),
});

/** Podman's description of itself. */
export interface PodmanInfo extends RuntimeInfo {
  /** Where it records events: `file`, `journald` or `none`. */
  readonly eventLogger: string;
  /** Default log driver of containers, e.g. `k8s-file`. */
  readonly logDriver: string;
  readonly isRootless: boolean;
}

/**
 * Reads Podman's description of itself, which takes Podman 4.3.1 0.9 s. @throws InfraError as the client, PODMAN_FAILED
 */
export async function readInfo(client: PodmanClient, signal?: AbortSignal): Promise<PodmanInfo> {
  return parseInfo(await client.text("info", signal));
}

/** Parses the reply to `info`. @throws InfraError PODMAN_FAILED */
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
