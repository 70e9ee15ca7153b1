import { runCommandLine } from "./cli/command-line.ts";
import { createProcessOutput } from "./cli/table/output.ts";

// Exits although a command may leave resources open, but only once stdout is flushed, so that a slow reader gets all of the
// output.
const exit = (code: number) => void process.stdout.write("", () => process.exit(code));
await runCommandLine(process.argv.slice(2), createProcessOutput(), exit);
