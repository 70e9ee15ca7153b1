import { InfraError } from "../host/infra-error.ts";
import type { ReasonName } from "../host/reasons.ts";

/** What a call of libvirt's ends with, told of this resource. @throws InfraError as the work does */
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

/** Whether it is an error for one of these reasons. */
export function isReason(error: unknown, ...reasons: readonly ReasonName[]): error is InfraError {
  return error instanceof InfraError && reasons.includes(error.reason);
}

/** Undefined if what the calls are about has gone meanwhile. */
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
