import { InfraError } from "../host/infra-error.ts";
import { reasonOfText } from "./errors.ts";
import { resticReasons } from "./reasons.ts";
import type { Redact } from "./secrets.ts";

/** Detects a restic that keeps retrying. */
export interface RetryWatch {
  /** Receives restic's stderr. */
  add(chunk: Buffer): void;
  /** Reports that data has moved, which means that retries have succeeded. */
  moved(): void;
}

/**
 * Creates a watch on restic's retries. restic retries for a long time, even what was refused: 0.14 ten times for each
 * object, six minutes in all; newer versions for a quarter of an hour. It logs each attempt:
 *   Save(<data/4e05a62466>) returned error, retrying after 552.330144ms: client.PutObject: Put
 *   "http://127.0.0.1:18333/bucket/...": dial tcp 127.0.0.1:18333: connect: connection refused
 *   Save(<lock/29cd4e36f4>) returned error, retrying after 552.330144ms: client.PutObject: Access Denied.
 * `onGivenUp` is called after retries for `patienceMs` without any progress, and immediately for a refusal.
 */
export function createRetryWatch(
  patienceMs: number,
  redact: Redact,
  onGivenUp: (error: InfraError) => void,
): RetryWatch {
  let firstAtMs: number | undefined;
  let rest = "";
  return {
    add(chunk) {
      const lines = (rest + chunk.toString("utf8")).split("\n");
      rest = lines.pop()?.slice(-4096) ?? "";
      const retry = lines.findLast((line) => / returned error, retrying after /.test(line));
      if (retry === undefined) {
        return;
      }
      firstAtMs ??= performance.now();
      const reason = reasonOfText(retry) ?? resticReasons.REPOSITORY_UNREACHABLE;
      if (reason === resticReasons.REPOSITORY_DENIED || performance.now() - firstAtMs >= patienceMs) {
        onGivenUp(new InfraError(reason, `restic: ${redact(retry.trim())}`));
      }
    },
    moved() {
      firstAtMs = undefined;
    },
  };
}
