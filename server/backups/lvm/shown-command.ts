import type { LvmAdapter } from "../../../adapters/lvm/adapter.ts";

/** Formats a command of LVM as text for a shell, which does not have the gateway's environment. */
export type ShownCommand = (argv: readonly string[]) => string;

/** Puts before a command the LVM_SYSTEM_DIR that the adapter shows before its own; nothing where none is configured. */
export function createShownCommand(lvm: Pick<LvmAdapter, "commandOf">): ShownCommand {
  const [first = "", second = ""] = lvm.commandOf({ kind: "remove", volumeGroupName: "vg", name: "lv" });
  const isSet = first === "env" && second.startsWith("LVM_SYSTEM_DIR=");
  const prefix = isSet ? [first, second] : [];
  return (argv) => [...prefix, ...argv].map(shellWord).join(" ");
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
