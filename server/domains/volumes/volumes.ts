import type { Snapshot } from "../../../adapters/host/snapshot.ts";
import type { LvmAdapter, LvmState } from "../../../adapters/lvm/adapter.ts";
import { checkTwice } from "../../domain/check-twice.ts";
import { assertResolved, type DeviceClass, findDeviceClass, type ResolvedClass } from "./device-class.ts";

export interface VolumesOptions {
  readonly lvm: LvmAdapter;
  readonly deviceClasses: readonly DeviceClass[];
}

/** The volumes of this host, independent of protocols and messages. Their changes are in `changes/`. */
export interface Volumes {
  readonly deviceClasses: readonly DeviceClass[];
  readState(): Promise<Snapshot<LvmState>>;
  /**
   * Evaluates the state, as read by `LvmAdapter.readRecent`. If `check` refuses, LVM is read again first.
   * @throws InfraError of `check`
   */
  check<Result>(check: (state: Snapshot<LvmState>) => Result, signal?: AbortSignal): Promise<Result>;
  /**
   * Returns a device class with the state of its group, as read by `LvmAdapter.readRecent`.
   * @throws InfraError DEVICE_CLASS_NOT_FOUND, VOLUME_GROUP_GONE
   */
  resolve(
    deviceClassName: string,
    signal?: AbortSignal,
  ): Promise<{ readonly resolved: ResolvedClass; readonly snapshot: Snapshot<LvmState> }>;
  /** Calls back when LVM's state has changed, and on `notify`. */
  subscribe(onChange: () => void): () => void;
  /** Calls the subscribers after a resize to the same size, which changes nothing in LVM, but which clients expect. */
  notify(): void;
}

/** A refusal based on a state younger than this is final, so that repeatedly refused reads do not keep LVM busy. */
const refusalMaxAgeMs = 1_000;

/** @param options `deviceClasses`: as configured; their volume groups need not exist yet */
export function createVolumes({ lvm, deviceClasses }: VolumesOptions): Volumes {
  const listeners = new Set<() => void>();
  const checkState: Volumes["check"] = async (check, signal) =>
    checkTwice(await lvm.readRecent(signal), check, {
      refresh: () => lvm.refresh(signal),
      finalBelowMs: refusalMaxAgeMs,
    });
  return {
    deviceClasses,
    readState: () => lvm.read(),
    check: checkState,
    async resolve(deviceClassName, signal) {
      const deviceClass = findDeviceClass(deviceClasses, deviceClassName);
      const check = (snapshot: Snapshot<LvmState>) => ({
        resolved: assertResolved(deviceClass, snapshot.value),
        snapshot,
      });
      return checkState(check, signal);
    },
    subscribe(onChange) {
      listeners.add(onChange);
      const unsubscribe = lvm.subscribe(onChange);
      return () => {
        listeners.delete(onChange);
        unsubscribe();
      };
    },
    notify() {
      for (const listener of listeners) {
        listener();
      }
    },
  };
}
