import type { LvmAdapter, LvmState } from "../../../../adapters/lvm/adapter.ts";
import { type CreateChange, createShortChanges } from "../../../domain/short-change.ts";
import type { InlineRunner } from "../../../operations/engine/run-inline.ts";
import type { Operations } from "../../../operations/operations.ts";

export interface ChangeVolumesOptions {
  readonly lvm: LvmAdapter;
  readonly runner: InlineRunner;
  readonly operations: Pick<Operations, "assertFree">;
  /**
   * Resolves when no LVM command of an earlier gateway process is running any more; changes wait for it.
   * @throws InfraError SHUTTING_DOWN
   */
  readonly leftCommandsSettled?: () => Promise<void>;
}

/** Returns a function that makes changes of volumes executable. */
export function createChangeVolumes({
  lvm,
  runner,
  operations,
  leftCommandsSettled,
}: ChangeVolumesOptions): CreateChange<LvmState> {
  const settled = leftCommandsSettled === undefined ? {} : { settled: leftCommandsSettled };
  return createShortChanges({
    system: { read: () => lvm.read(), refresh: (signal) => lvm.refresh(signal), ...settled },
    runner,
    operations,
  });
}
