import type { Snapshot } from "../../../adapters/host/snapshot.ts";
import type { Call } from "../../rpc/call.ts";

/** Says in a header how old the state is that an answer comes of, in milliseconds. */
export function tellSnapshotAge(call: Pick<Call, "setHeader">, { readAtMs }: Snapshot<unknown>): void {
  call.setHeader("hostplane-snapshot-age", String(Math.round(performance.now() - readAtMs)));
}
