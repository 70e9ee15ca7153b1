import { once } from "node:events";
import { PassThrough } from "node:stream";
import { InfraError } from "../host/infra-error.ts";
import { run, type ToolEnd } from "../host/run.ts";

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
export async function* readNbd(
  { socketPath, exportName, onToolEnd }: NbdExport,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const uri = `nbd+unix:///${encodeURIComponent(exportName)}?socket=${encodeURIComponent(socketPath)}`;
  const leaving = new AbortController();
  const stdout = new PassThrough();
  const running = run(["nbdcopy", uri, "-"], {
    kind: "read",
    signal: AbortSignal.any([signal, leaving.signal]),
    output: async (chunk) => {
      if (!stdout.write(chunk)) {
        await once(stdout, "drain", { signal: leaving.signal }).catch(() => {});
      }
    },
    onToolEnd,
  });
  const ended = running.then(
    ({ exitCode, stderr }) => {
      if (exitCode === 0) {
        stdout.end();
      } else {
        stdout.destroy(new InfraError("TOOL_FAILED", `nbdcopy: ${stderr.trim() || `exit code ${exitCode}`}`));
      }
    },
    (error: unknown) => void stdout.destroy(error instanceof Error ? error : undefined),
  );
  try {
    yield* stdout;
  } finally {
    leaving.abort();
    await ended;
  }
}
