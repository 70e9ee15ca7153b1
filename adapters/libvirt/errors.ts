import { InfraError } from "../host/infra-error.ts";
import type { ReasonName } from "../host/reasons.ts";

/** Adds the resource to the error of a libvirt call. @throws InfraError as the work does */
export async function about<T>(resource: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof InfraError && error.resource === undefined) {
      const { reason, message, violations, metadata } = error;
      throw new InfraError(reason, message, { resource, violations, metadata, cause: error });
    }
    throw error;
  }
}

/** Reports whether it is an InfraError with one of these reasons. */
export function isReason(error: unknown, ...reasons: readonly ReasonName[]): error is InfraError {
  return error instanceof InfraError && reasons.includes(error.reason);
}

/** Waits for calls; returns undefined if their object has disappeared meanwhile. */
export async function unlessGone<Calls extends readonly Promise<unknown>[]>(
  reason: ReasonName,
  calls: readonly [...Calls],
): Promise<{ [At in keyof Calls]: Awaited<Calls[At]> } | undefined> {
  try {
    return await Promise.all(calls);
  } catch (error) {
    if (isReason(error, reason)) {
      return undefined;
    }
    throw error;
  }
}
