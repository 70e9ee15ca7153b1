import { InfraError } from "../../host/infra-error.ts";
import { run } from "../../host/process/run.ts";
import type { ToolEnd } from "../../host/process/tool-result.ts";
import { pulled } from "../../host/pulled.ts";
import { hostReasons } from "../../host/reasons.ts";

/** A disk exported by an NBD server. */
export interface NbdExport {
  readonly socketPath: string;
  readonly exportName: string;
  readonly onToolEnd: ((end: ToolEnd) => void) | undefined;
}

/**
 * Reads all bytes of a disk from an NBD server, at the reader's pace. Uses nbdcopy (Debian: libnbd-bin), since qemu-img
 * writes only to files. Leaving the loop ends it.
 * @throws InfraError TOOL_MISSING, TOOL_FAILED if the server is gone or fails, and the signal's reason
 */
export function readNbd(
  { socketPath, exportName, onToolEnd }: NbdExport,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const uri = `nbd+unix:///${encodeURIComponent(exportName)}?socket=${encodeURIComponent(socketPath)}`;
  return pulled(async (output, stop) => {
    const argv = ["nbdcopy", uri, "-"];
    const { exitCode, stderr } = await run(argv, { kind: "read", signal: stop, output, onToolEnd });
    if (exitCode !== 0) {
      throw new InfraError(hostReasons.TOOL_FAILED, `nbdcopy: ${stderr.trim() || `exit code ${exitCode}`}`);
    }
  }, signal);
}
