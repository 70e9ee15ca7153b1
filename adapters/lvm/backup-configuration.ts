import { type LvmCommandOptions, lvmCommand } from "./commands.ts";

/** Where LVM keeps backups of its metadata. */
export interface BackupConfiguration {
  /** Whether LVM writes backups. Without them, changes made outside the gateway cannot be watched. */
  readonly enabled: boolean;
  readonly directory: string | undefined;
}

/** Returns the argv that prints the backup configuration for `parseBackupConfiguration`. */
export function backupConfigurationCommand(options: LvmCommandOptions): string[] {
  return lvmCommand(options, "lvmconfig", ["--typeconfig", "full", "backup/backup", "backup/backup_dir"]);
}

/** Parses lines such as `backup=1` and `backup_dir="/etc/lvm/backup"`. */
export function parseBackupConfiguration(text: string): BackupConfiguration {
  return {
    enabled: /^\s*backup=1\s*$/m.test(text),
    directory: /^\s*backup_dir="(.+)"\s*$/m.exec(text)?.[1],
  };
}
