import { createRestic } from "../../../adapters/restic/restic.ts";

/**
 * A process to be killed during a backup: prints a line for each progress report.
 * Arguments: path of the repository, its password, the source, its size, the token.
 */
const [path = "", password = "", device = "", sizeBytes = "", token = ""] = process.argv.slice(2);
await createRestic({ progressMs: 20 }).backup(
  { location: { kind: "local", path }, password },
  { device, sizeBytes: Number(sizeBytes), fileName: "data", tags: ["killed"] },
  {
    signal: new AbortController().signal,
    onProgress: ({ doneBytes }) => process.stdout.write(`${doneBytes}\n`),
    token,
  },
);
