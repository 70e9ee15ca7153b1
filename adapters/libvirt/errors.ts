import type { Reason } from "../host/define-reasons.ts";
import { hasReason, InfraError } from "../host/infra-error.ts";

/** Adds the resource to the error of a libvirt call. @throws InfraError as the work does */
export async function about<T>(resource: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof InfraError && error.resource === undefined) {
      const { declared, message, violations, metadata } = error;
      throw new InfraError(declared, message, { resource, violations, metadata, cause: error });
    }
    throw error;
  }
}

/** Waits for calls; returns undefined if their object has disappeared meanwhile. */
export async function unlessGone<Calls extends readonly Promise<unknown>[]>(
  reason: Reason,
  calls: readonly [...Calls],
): Promise<{ [At in keyof Calls]: Awaited<Calls[At]> } | undefined> {
  try {
    return await Promise.all(calls);
  } catch (error) {
    if (hasReason(error, reason)) {
      return undefined;
    }
    throw error;
  }
}
