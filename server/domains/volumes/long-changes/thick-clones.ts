import { type BeginnableChange, registerLongChange } from "../../../domain/long-change.ts";
import { createOperationVolumes } from "../../../lvm/operation-volumes.ts";
import type { Operation } from "../../../operations/operation.ts";
import type { Operations } from "../../../operations/operations.ts";
import type { ChangeVolumesOptions } from "../changes/change-volumes.ts";
import type { DeviceClass } from "../device-class.ts";
import { createCloneKind } from "./clone-kind.ts";
import { createCloneVolume, type ThickClone } from "./clone-volume.ts";

/** Clones of thick volumes, for every service that creates them. */
export type ThickClones = BeginnableChange<ThickClone | { readonly joins: Operation }>;

export interface ThickClonesOptions extends ChangeVolumesOptions {
  readonly deviceClasses: readonly DeviceClass[];
  readonly operations: Pick<Operations, "assertFree" | "register">;
}

/** Registers the kind of operations that clone thick volumes; must run before `operations.begin`. */
export function createThickClones(options: ThickClonesOptions): ThickClones {
  const { lvm, runner, operations, deviceClasses } = options;
  const tools = { operationVolumes: createOperationVolumes(lvm, runner), deviceClasses, data: lvm.data };
  return registerLongChange(operations, createCloneVolume(options, createCloneKind(tools)));
}
