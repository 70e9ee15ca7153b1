import { randomUUID } from "node:crypto";
import { ensureRepository } from "../../../../backups/ensure-repository.ts";
import {
  assertReadable,
  type ChooseOutput,
  holderOf,
  listWhole,
  maxAttempts,
  openRepository,
  type PoolBackupStep,
  type PoolBackupTools,
} from "./backup-run.ts";

/** Opens the repository before any volume is read, so that a failure is reported at once. */
export function openStep(tools: PoolBackupTools): PoolBackupStep {
  return {
    name: "open",
    title: "opening the repository",
    isAbortable: true,
    async forward(run) {
      const { place, host } = run.input;
      const repository = await openRepository(tools, run);
      await ensureRepository(tools, repository, { place, host, owner: run.operationId }, run.signal);
      return null;
    },
  };
}

/** Records which volumes to store under which ids, so that an attempt after a crash knows what is left to do. */
export function chooseStep(tools: PoolBackupTools): PoolBackupStep {
  const { volumes } = tools;
  return {
    name: "choose",
    title: "listing the volumes",
    isAbortable: true,
    maxAttempts,
    async forward(run) {
      await volumes.refresh(run.signal);
      const all = await listWhole(tools, holderOf(run));
      assertReadable(all, volumes.poolName);
      const chosen = all.map(({ name, identity, sizeBytes }) => ({
        name,
        identity,
        sizeBytes,
        backupId: randomUUID(),
      }));
      run.progress({ message: `${chosen.length} volumes of ${volumes.poolName}` });
      return { volumes: chosen } satisfies ChooseOutput;
    },
  };
}
