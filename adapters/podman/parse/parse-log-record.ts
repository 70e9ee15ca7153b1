import type { LogPiece } from "../adapter.ts";
import { createTimeReader } from "./parse-time.ts";

// conmon writes records of little more than 8 KiB.
const maxRecordBytes = 1024 * 1024;
// The longest time is `2026-11-21T15:29:23.123456789+01:00`.
const maxTimeBytes = 35;
const space = 0x20;
const newline = 0x0a;
const dot = 0x2e;
const letterF = 0x46;
const letterP = 0x50;

/**
 * Creates a streaming decoder for the file that conmon writes for Podman's drivers `k8s-file` and `json-file`, in the
 * log format of the Kubernetes container runtime interface. Each record is a line `2026-11-21T15:29:23.123456789+00:00
 * stdout F hello`, or has `P` for a part of an unfinished line. The pieces equal those of Podman's API, so their times
 * are whole seconds, and invalid records are left out.
 */
export function createRecordDecoder(): (chunk: Uint8Array) => LogPiece[] {
  let pending: Uint8Array = new Uint8Array();
  const timeOf = createTimeReader();

  return (chunk) => {
    const bytes = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    const pieces: LogPiece[] = [];
    let from = 0;
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, from)) {
      const piece = pieceOf(bytes.subarray(from, end), timeOf);
      if (piece !== undefined) {
        pieces.push(piece);
      }
      from = end + 1;
    }
    pending = bytes.length - from > maxRecordBytes ? new Uint8Array() : bytes.subarray(from);
    return pieces;
  };
}

function pieceOf(record: Uint8Array, timeOf: (text: string) => bigint | undefined): LogPiece | undefined {
  const at = record.subarray(0, maxTimeBytes + 1).indexOf(space);
  const tag = record[at + 8];
  if (
    at === -1 ||
    record[at + 7] !== space ||
    record[at + 9] !== space ||
    (tag !== letterF && tag !== letterP)
  ) {
    return undefined;
  }
  const stream = latin1(record.subarray(at + 1, at + 7));
  const timeNs = timeOf(secondOf(record.subarray(0, at)));
  if (timeNs === undefined || (stream !== "stdout" && stream !== "stderr")) {
    return undefined;
  }
  return { stream, timeNs, bytes: record.subarray(at + 10), endsLine: tag === letterF };
}

/** Returns a time without the fraction of the second. */
function secondOf(time: Uint8Array): string {
  const text = latin1(time);
  const from = time.indexOf(dot);
  // Nine digits and the zone follow, `Z` or `+01:00`.
  return from === -1 ? text : text.slice(0, from) + text.slice(from).replace(/^\.\d+/, "");
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}
