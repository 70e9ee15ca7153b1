import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { readStateCommand } from "../../../adapters/lvm/commands.ts";
import { refusalDisks, refusals } from "./lvm-refusals.ts";
import { lvmStates } from "./lvm-states.ts";
import { createVm, type Vm, type VmResult } from "./vm.ts";

// Records LVM's output in the virtual machine, for tests that run without one:
//
//   node test/lab/vm/record-lvm.ts
//
// A run takes two or three minutes; two runs differ only in UUIDs and times.

const refusalsPath = fileURLToPath(new URL("samples-dm/refusals.jsonl", import.meta.url));
const reportsPath = fileURLToPath(new URL("../../adapters/lvm/samples/", import.meta.url));

async function succeed(vm: Vm, command: string | readonly string[]): Promise<VmResult> {
  const result = await vm.run(command);
  if (result.exitCode !== 0) {
    throw new Error(`${command} ended with ${result.exitCode}: ${result.stderr}`);
  }
  return result;
}

async function withVm(name: string, use: (vm: Vm) => Promise<void>): Promise<void> {
  const vm = await createVm({ name, disks: refusalDisks });
  try {
    await use(vm);
  } finally {
    await vm.stop();
  }
}

async function recordRefusals(vm: Vm): Promise<void> {
  const lines: string[] = [];
  for (const { name, given, argv } of refusals) {
    if (given !== undefined) {
      await succeed(vm, `set -e; ${given}`);
    }
    const { exitCode, stdout, stderr } = await vm.run(argv);
    lines.push(JSON.stringify({ name, given, argv, exitCode, stdout, stderr }));
  }
  await writeFile(refusalsPath, `${lines.join("\n")}\n`);
}

async function recordReports(vm: Vm): Promise<void> {
  const version = (await succeed(vm, "lvm version | awk '/LVM version/ { print $3 }'")).stdout.trim();
  const command = readStateCommand({});
  const lines = [
    `# Reports of lvm2 ${version} on a machine with device-mapper`,
    "",
    "Recorded by `node test/lab/vm/record-lvm.ts`. Each file contains the stdout of the command below, with `--all` added",
    "for the files whose name ends in `-all`. The commands of each section start from the state of the section above.",
    "",
    "```",
    command.join(" "),
    "```",
  ];
  for (const { name, given, all = false } of lvmStates) {
    if (given !== undefined) {
      await succeed(vm, `set -e; ${given}`);
    }
    const { exitCode, stdout, stderr } = await vm.run(all ? [...command, "--all"] : command);
    await writeFile(`${reportsPath}vm-${name}.txt`, stdout);
    lines.push("", `## vm-${name}.txt`, "", "```", ...(given?.split("; ") ?? []), `# exit code ${exitCode}`);
    for (const line of stderr.trim().split("\n")) {
      if (line !== "") {
        lines.push(`# ${line.trim()}`);
      }
    }
    lines.push("```");
  }
  await writeFile(`${reportsPath}vm-reports.md`, `${lines.join("\n")}\n`);
}

await mkdir(new URL("samples-dm/", import.meta.url), { recursive: true });
await withVm("record-refusals", recordRefusals);
await withVm("record-reports", recordReports);
