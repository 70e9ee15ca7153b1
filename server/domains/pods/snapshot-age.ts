import type { Snapshot } from "../../../adapters/host/snapshot.ts";
import type { Call } from "../../rpc/call/call.ts";

/** Sets a header with the age of the state behind a response, in milliseconds. */
export function setSnapshotAge(call: Pick<Call, "setHeader">, { readAtMs }: Snapshot<unknown>): void {
  call.setHeader("hostplane-snapshot-age", String(Math.round(performance.now() - readAtMs)));
}
