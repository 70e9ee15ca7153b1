import { z } from "zod";
import type { InfraError } from "../host/infra-error.ts";
import { snapshotChannel } from "../host/observation.ts";
import type { ClusterAccess } from "./cluster-access.ts";
import { failureFrom } from "./errors.ts";

export interface Beat {
  /** Why the cluster did not answer; undefined when it did. */
  readonly error: InfraError | undefined;
  /** When it was last asked something that it answered (performance.now()). */
  readonly heardAtMs: number;
  /** Whether it answers after a time in which it did not. */
  readonly isBack: boolean;
}

export interface HeartbeatOptions {
  readonly access: ClusterAccess;
  readonly everyMs: number;
  readonly onBeat: (beat: Beat) => void;
}

export interface Heartbeat {
  /** Ends once the cluster has answered or not, also for who asks while it is asked. */
  beatNow(): Promise<void>;
  /** Of the API server; undefined while it has not told. */
  version(): string | undefined;
  close(): void;
}

const versionReply = z.object({ gitVersion: z.string() });

/**
 * Asks a cluster now and then whether it is there: a watch on which nothing happens says nothing of that. The kubeconfig is
 * read before the first time, and again after each that failed.
 */
export function createHeartbeat({ access, everyMs, onBeat }: HeartbeatOptions): Heartbeat {
  let version: string | undefined;
  let heardAtMs = Number.NEGATIVE_INFINITY;
  let hasFailed = true;
  let beating: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function ask(): Promise<void> {
    try {
      if (hasFailed) {
        access.load();
      }
      const reply = versionReply.safeParse(await access.getJson("/version"));
      version = reply.success ? reply.data.gitVersion : version;
    } catch (error) {
      const failure = failureFrom(error, { verb: "get", what: "/version", access: access.describe() });
      // Who refuses to tell its version is there.
      if (failure.kind === "away") {
        throw failure.error;
      }
    }
  }

  async function beat(): Promise<void> {
    const askedAtMs = performance.now();
    let error: InfraError | undefined;
    try {
      await snapshotChannel.tracePromise(ask, { system: "kubernetes" });
      heardAtMs = askedAtMs;
    } catch (failure) {
      error = failure as InfraError;
    }
    if (isClosed) {
      return;
    }
    const isBack = hasFailed && error === undefined;
    hasFailed = error !== undefined;
    onBeat({ error, heardAtMs, isBack });
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
