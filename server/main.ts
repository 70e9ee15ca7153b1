import { runCommandLine } from "./command-line.ts";
import { createProcessOutput } from "./commands/output.ts";

// What a command leaves open must not keep the process, and a slow reader of its output must not lose the end.
const exit = (code: number) => void process.stdout.write("", () => process.exit(code));
await runCommandLine(process.argv.slice(2), createProcessOutput(), exit);
