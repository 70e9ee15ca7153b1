import type { LvmAdapter } from "../../adapters/lvm/adapter.ts";

/** Formats an LVM command for a shell that does not have the gateway's environment. */
export type ShownCommand = (argv: readonly string[]) => string;

/** Creates a formatter that prefixes commands with the adapter's LVM_SYSTEM_DIR, if one is configured. */
export function createShownCommand(lvm: Pick<LvmAdapter, "commandOf">): ShownCommand {
  const [first = "", second = ""] = lvm.commandOf({ kind: "remove", volumeGroupName: "vg", name: "lv" });
  const isSet = first === "env" && second.startsWith("LVM_SYSTEM_DIR=");
  const prefix = isSet ? [first, second] : [];
  return (argv) => [...prefix, ...argv].map(shellWord).join(" ");
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
