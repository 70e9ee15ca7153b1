import { InfraError } from "../host/infra-error.ts";
import { reasonOfText } from "./errors.ts";
import type { Redact } from "./secrets.ts";

/** Notices a restic that tries the same again and again. */
export interface RetryWatch {
  /** Takes what restic prints on stderr. */
  add(chunk: Buffer): void;
  /** Tells that data has moved, so that whatever was tried again has succeeded. */
  moved(): void;
}

/**
 * restic tries again for long (0.14 ten times with each thing, which took six minutes in all; newer ones for a quarter of an
 * hour), also what was refused, and says so each time:
 *   Save(<data/4e05a62466>) returned error, retrying after 552.330144ms: client.PutObject: Put "http://127.0.0.1:18333/bucket/...": dial tcp 127.0.0.1:18333: connect: connection refused
 *   Save(<lock/29cd4e36f4>) returned error, retrying after 552.330144ms: client.PutObject: Access Denied.
 * `onGivenUp` is called once it has done so for `patienceMs` without anything moving, and at once for what was refused.
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
      const reason = reasonOfText(retry) ?? "REPOSITORY_UNREACHABLE";
      if (reason === "REPOSITORY_DENIED" || performance.now() - firstAtMs >= patienceMs) {
        onGivenUp(new InfraError(reason, `restic: ${redact(retry.trim())}`));
      }
    },
    moved() {
      firstAtMs = undefined;
    },
  };
}
