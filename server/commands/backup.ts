import { toJson } from "@bufbuild/protobuf";
import { type Backup, BackupSchema } from "../../gen/hostplane/v1/backup_pb.ts";
import { type Operation, OperationSchema, OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { BackupStateSchema, StateType } from "../../gen/proto/lvmd_pb.ts";
import { operationSummary } from "../cli/table/operation-lines.ts";
import type { ExitCode } from "../cli/table/output.ts";
import { textTable } from "../cli/table/text-table.ts";
import type { AdminClient } from "../cli/target/admin-client.ts";
import { type AccessOptions, readRepositorySecrets } from "../domains/backups/repository-access.ts";
import { backupHead, backupLines, backupRow } from "./backup-lines.ts";
import { followOperation } from "./follow-operation.ts";
import { type AdminOptions, type CommandContext, runAdminCommand } from "./run-admin-command.ts";

export interface ListBackupsOptions extends AdminOptions {
  readonly volume?: string;
  readonly name?: string;
  readonly schedule?: string;
  readonly limit?: number;
}

/** Options of every command that starts an operation on a backup. */
export interface BeginOptions extends AdminOptions, AccessOptions {
  /** Report progress until the operation ends. */
  readonly wait?: boolean;
}

export interface CreateBackupOptions extends BeginOptions {
  readonly endpoint?: string;
  readonly path?: string;
  /** `--no-verify-tls` */
  readonly verifyTls: boolean;
}

export interface RestoreBackupOptions extends BeginOptions {
  readonly deviceClass?: string;
  readonly sizeGib?: number;
  readonly tag?: readonly string[];
}

const limitDefault = 100;

/** Backups are known only to the running gateway that serves the volumes. */
const running = { mustRun: true };

/** Prints the newest backups that match every filter, as a table or as a JSON array of the API's messages. */
export function listBackups(options: ListBackupsOptions, context: CommandContext): Promise<ExitCode> {
  const { volume = "", name = "", schedule = "", limit = limitDefault } = options;
  const work = async (client: AdminClient) => {
    const backups: Backup[] = [];
    let pageToken = "";
    do {
      const pageSize = Math.min(limit - backups.length, 1000);
      const page = await client.backups.listBackups({ volume, name, schedule, pageSize, pageToken });
      backups.push(...page.backups);
      pageToken = page.nextPageToken;
    } while (pageToken !== "" && backups.length < limit);
    const lines =
      options.json === true
        ? [JSON.stringify(backups.map(jsonOf), null, 2)]
        : textTable(backupHead, backups.map(backupRow));
    printAll(lines, context);
  };
  return runAdminCommand(options, context, work, running);
}

/** Prints everything known about a backup. */
export function showBackup(id: string, options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  const work = async ({ backups }: AdminClient) => {
    const { backup } = await backups.getBackup({ id });
    if (backup !== undefined) {
      printAll(
        options.json === true ? [JSON.stringify(jsonOf(backup), null, 2)] : backupLines(backup),
        context,
      );
    }
  };
  return runAdminCommand(options, context, work, running);
}

/** Starts a backup of a volume, or reports the progress of the backup with this name. Exits with 1 when the backup has failed. */
export async function createBackup(
  name: string,
  volumeHandle: string,
  options: CreateBackupOptions,
  context: CommandContext,
): Promise<ExitCode> {
  let hasFailed = false;
  const code = await runAdminCommand(
    options,
    context,
    async (client) => {
      const dataSource = await dataSourceFrom(options);
      const poll = async () => {
        let operationId = "";
        const onHeader = (headers: Headers) => {
          operationId = headers.get("hostplane-operation") ?? "";
        };
        const request = { backup: { name, volumeHandle, ...dataSource } };
        const { backupState } = await client.volumes.createBackup(request, { onHeader });
        return { backupState, operationId };
      };
      let { backupState, operationId } = await poll();
      if (options.wait === true && backupState?.state === StateType.INPROGRESS) {
        await followOperation(client, operationId, options.json === true, context.output);
        ({ backupState } = await poll());
      }
      if (backupState === undefined) {
        return;
      }
      hasFailed = backupState.state === StateType.ERROR;
      if (options.json === true) {
        const json = toJson(BackupStateSchema, backupState, { alwaysEmitImplicit: true });
        context.output.out(JSON.stringify(json));
      } else if (hasFailed) {
        context.output.err(backupState.msg);
      } else {
        context.output.out(backupState.msg);
      }
    },
    running,
  );
  return hasFailed ? 1 : code;
}

/** Verifies a backup by reading all of it. */
export function verifyBackup(id: string, options: BeginOptions, context: CommandContext): Promise<ExitCode> {
  return beginOperation(options, context, ({ backups }, access) => backups.verifyBackup({ id, access }));
}

/** Deletes a backup permanently. */
export function deleteBackup(id: string, options: BeginOptions, context: CommandContext): Promise<ExitCode> {
  return beginOperation(options, context, ({ backups }, access) => backups.deleteBackup({ id, access }));
}

/** Creates a new volume from a backup. */
export function restoreBackup(
  id: string,
  volumeName: string,
  options: RestoreBackupOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { deviceClass = "", sizeGib = 0, tag = [] } = options;
  const request = { id, volumeName, deviceClass, sizeGb: BigInt(sizeGib), tags: [...tag] };
  return beginOperation(options, context, ({ backups }, access) =>
    backups.restoreBackup({ ...request, access }),
  );
}

/**
 * Prints the operation that `begin` starts. With `--wait` it also prints the progress and exits with 1 unless the operation
 * completes.
 */
async function beginOperation(
  options: BeginOptions,
  context: CommandContext,
  begin: (
    client: AdminClient,
    access: Awaited<ReturnType<typeof readRepositorySecrets>>,
  ) => Promise<{ readonly operation?: Operation | undefined }>,
): Promise<ExitCode> {
  let state: OperationState | undefined;
  const code = await runAdminCommand(
    options,
    context,
    async (client) => {
      const { operation } = await begin(client, await readRepositorySecrets(options));
      if (operation === undefined) {
        return;
      }
      if (options.wait === true) {
        state = await followOperation(client, operation.id, options.json === true, context.output);
      } else if (options.json === true) {
        context.output.out(JSON.stringify(toJson(OperationSchema, operation, { alwaysEmitImplicit: true })));
      } else {
        context.output.out(`operation ${operation.id}: ${operationSummary(operation)}`);
      }
    },
    running,
  );
  return code === 0 && options.wait === true && state !== OperationState.COMPLETED ? 1 : code;
}

/** Returns the repository fields of the request. Without an endpoint the backup goes to the local repository. */
async function dataSourceFrom(options: CreateBackupOptions) {
  const { endpoint = "", path = "", verifyTls } = options;
  const { encryptionKey, ...access } = await readRepositorySecrets(options);
  if (endpoint === "" && path === "" && encryptionKey === "") {
    return {};
  }
  const s3 = { endpoint, path, verifyTls, encryptionKey, ...(endpoint === "" ? {} : access) };
  return { dataSource: { type: { case: "s3" as const, value: s3 } } };
}

function printAll(lines: readonly string[], { output }: CommandContext): void {
  for (const line of lines) {
    output.out(line);
  }
}

function jsonOf(backup: Backup) {
  return toJson(BackupSchema, backup, { alwaysEmitImplicit: true });
}
