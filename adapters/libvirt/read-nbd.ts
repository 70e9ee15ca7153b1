import { InfraError } from "../host/infra-error.ts";
import { pulled } from "../host/pulled.ts";
import { run } from "../host/run.ts";
import type { ToolEnd } from "../host/tool-result.ts";

/** Where an NBD server shows a disk. */
export interface NbdExport {
  readonly socketPath: string;
  readonly exportName: string;
  readonly onToolEnd: ((end: ToolEnd) => void) | undefined;
}

/**
 * All bytes of a disk that an NBD server shows, at the reader's pace. By nbdcopy (Debian: libnbd-bin), since qemu-img writes
 * only to files. Leaving the loop ends it.
 * @throws InfraError TOOL_MISSING, TOOL_FAILED when the server is gone or cannot read on, and the signal's reason
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
      throw new InfraError("TOOL_FAILED", `nbdcopy: ${stderr.trim() || `exit code ${exitCode}`}`);
    }
  }, signal);
}
