import { z } from "zod";
import type { InfraError } from "../host/infra-error.ts";
import { snapshotChannel } from "../host/observation.ts";
import type { ClusterAccess } from "./cluster-access.ts";
import { failureFrom } from "./errors.ts";

export interface Beat {
  /** Why the cluster did not answer; undefined when it did. */
  readonly error: InfraError | undefined;
  /** When the last answered request was sent (performance.now()). */
  readonly answeredAtMs: number;
  /** Whether it answers again after not answering. */
  readonly isBack: boolean;
}

export interface HeartbeatOptions {
  readonly access: ClusterAccess;
  readonly everyMs: number;
  readonly onBeat: (beat: Beat) => void;
}

export interface Heartbeat {
  /** Resolves once the cluster has answered or failed to. Joins a running heartbeat. */
  beatNow(): Promise<void>;
  /** Version of the API server; undefined until reported. */
  version(): string | undefined;
  close(): void;
}

const versionReply = z.object({ gitVersion: z.string() });

/**
 * Checks periodically that a cluster is reachable, which an idle watch does not show. The kubeconfig is read before the
 * first heartbeat, and again after each failed one.
 */
export function createHeartbeat({ access, everyMs, onBeat }: HeartbeatOptions): Heartbeat {
  let version: string | undefined;
  let answeredAtMs = Number.NEGATIVE_INFINITY;
  let hasFailed = true;
  let beating: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function ping(): Promise<void> {
    try {
      if (hasFailed) {
        access.load();
      }
      const reply = versionReply.safeParse(await access.getJson("/version"));
      version = reply.success ? reply.data.gitVersion : version;
    } catch (error) {
      const failure = failureFrom(error, { verb: "get", what: "/version", access: access.describe() });
      // A server that refuses to return its version is reachable.
      if (failure.kind === "away") {
        throw failure.error;
      }
    }
  }

  async function beat(): Promise<void> {
    const sentAtMs = performance.now();
    let error: InfraError | undefined;
    try {
      await snapshotChannel.tracePromise(ping, { system: "kubernetes" });
      answeredAtMs = sentAtMs;
    } catch (failure) {
      error = failure as InfraError;
    }
    if (isClosed) {
      return;
    }
    const isBack = hasFailed && error === undefined;
    hasFailed = error !== undefined;
    onBeat({ error, answeredAtMs, isBack });
  }

  function beatNow(): Promise<void> {
    clearTimeout(timer);
    beating ??= beat().finally(() => {
      beating = undefined;
      if (!isClosed) {
        timer = setTimeout(beatNow, everyMs).unref();
      }
    });
    return beating;
  }

  void beatNow();
  return {
    beatNow,
    version: () => version,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
