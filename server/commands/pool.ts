import { toJson } from "@bufbuild/protobuf";
import { type StoragePool, StoragePoolSchema } from "../../gen/hostplane/v1/storage_pool_pb.ts";
import type { ExitCode } from "../cli/table/output.ts";
import type { AdminClient } from "../cli/target/admin-client.ts";
import { whileRead } from "../cli/while-read.ts";
import { type BeginOperationOptions, beginOperation } from "./begin-operation.ts";
import { poolLines, poolSummary } from "./pool-lines.ts";
import { type AdminOptions, type CommandContext, runAdminCommand } from "./run-admin-command.ts";

/** The pool is known only to a running gateway. */
const running = { mustRun: true };

/** Prints the storage pool with its devices and spares. */
export function showPool(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  const work = async ({ storagePool }: AdminClient) => {
    const { pool } = await storagePool.getStoragePool({});
    if (pool !== undefined) {
      const lines = options.json === true ? [JSON.stringify(jsonOf(pool), null, 2)] : poolLines(pool);
      for (const line of lines) {
        context.output.out(line);
      }
    }
  };
  return runAdminCommand(options, context, work, running);
}

/** Prints the storage pool now and after each change, until the gateway stops or the output is closed. */
export function watchPool(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  const work = ({ storagePool }: AdminClient) =>
    whileRead(async (signal) => {
      for await (const { pool } of storagePool.watchStoragePool({}, { signal })) {
        if (pool !== undefined) {
          context.output.out(options.json === true ? JSON.stringify(jsonOf(pool)) : poolSummary(pool));
        }
      }
    });
  return runAdminCommand(options, context, work, running);
}

/** Starts adding spare devices. */
export function expandPool(
  minBytes: bigint,
  options: BeginOperationOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return beginOperation(options, context, ({ storagePool }) => storagePool.expandStoragePool({ minBytes }));
}

/** Starts removing devices. */
export function shrinkPool(
  maxBytes: bigint,
  options: BeginOperationOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return beginOperation(options, context, ({ storagePool }) => storagePool.shrinkStoragePool({ maxBytes }));
}

/** Starts a backup of all volumes of the pool. */
export function backUpPool(options: BeginOperationOptions, context: CommandContext): Promise<ExitCode> {
  return beginOperation(options, context, ({ storagePool }) => storagePool.backUpStoragePool({}));
}

function jsonOf(pool: StoragePool) {
  return toJson(StoragePoolSchema, pool, { alwaysEmitImplicit: true });
}
