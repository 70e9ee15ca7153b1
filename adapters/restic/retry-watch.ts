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
 * restic tries again for long (0.14 ten times, newer ones for a quarter of an hour), and says so each time:
 *   Load(<data/fb6a5afe7b>, 1616799, 0) returned error, retrying after 552.330144ms: dial tcp ...: connect: connection refused
 * `onGivenUp` is called once it has done so for `patienceMs` without anything moving.
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
      if (performance.now() - firstAtMs >= patienceMs) {
        const words = redact(retry.trim());
        onGivenUp(new InfraError(reasonOfText(words) ?? "REPOSITORY_UNREACHABLE", words));
      }
    },
    moved() {
      firstAtMs = undefined;
    },
  };
}
