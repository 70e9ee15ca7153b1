import type { Reason } from "../host/define-reasons.ts";
import { InfraError } from "../host/infra-error.ts";
import { hostReasons } from "../host/reasons.ts";
import type { RadosOptions } from "./librados.ts";
import { cephReasons } from "./reasons.ts";
import type { RadosAnswer } from "./worker-protocol.ts";

// Negated errno numbers of Linux.
const reasonOfCode: Readonly<Record<number, Reason>> = {
  [-1]: cephReasons.CEPH_DENIED,
  [-13]: cephReasons.CEPH_DENIED,
  [-107]: cephReasons.CEPH_UNAVAILABLE,
  [-108]: cephReasons.CEPH_UNAVAILABLE,
  [-110]: cephReasons.CEPH_UNAVAILABLE,
  [-111]: cephReasons.CEPH_UNAVAILABLE,
};

/**
 * Returns the output of a successful reply.
 * @param what the request, e.g. `osd dump`
 * @throws InfraError CEPH_UNAVAILABLE, CEPH_DENIED, CEPH_FAILED, TOOL_MISSING (librados)
 */
export function outputOf(answer: RadosAnswer, what: string, as: RadosOptions): string {
  if ("unloadable" in answer) {
    throw new InfraError(hostReasons.TOOL_MISSING, `librados cannot be loaded: ${answer.unloadable}`);
  }
  if ("call" in answer) {
    throw refusedConnection(answer.call, answer.code, as);
  }
  if (answer.code === 0) {
    return answer.output;
  }
  const reason = reasonOfCode[answer.code] ?? cephReasons.CEPH_FAILED;
  const words = answer.words.trim() || wordsOfCode(answer.code);
  const message =
    reason === cephReasons.CEPH_DENIED
      ? `Ceph denies this to ${as.user}: ${words}`
      : `Ceph refused: ${words}`;
  throw new InfraError(
    reason,
    reason === cephReasons.CEPH_UNAVAILABLE ? `Ceph did not answer in time` : message,
    {
      cause: new Error(`ceph ${what}: ${answer.code} ${words}`),
    },
  );
}

function refusedConnection(call: string, code: number, as: RadosOptions): InfraError {
  const place = as.confPath ?? "/etc/ceph/ceph.conf";
  if (call === "rados_conf_read_file") {
    return new InfraError(
      cephReasons.CEPH_UNAVAILABLE,
      `The configuration ${place} cannot be read: ${wordsOfCode(code)}`,
    );
  }
  // librados returns ENOENT for a missing key, and for a configuration without monitors.
  if (code === -2) {
    const key = as.keyringPath ?? `the keyring of ${place}`;
    return new InfraError(
      cephReasons.CEPH_DENIED,
      `No key of ${as.user} in ${key}, or no monitor in ${place}`,
    );
  }
  if (code === -13 || code === -1 || code === -22) {
    return new InfraError(cephReasons.CEPH_DENIED, `Ceph denies access to ${as.user}: ${wordsOfCode(code)}`);
  }
  return new InfraError(
    cephReasons.CEPH_UNAVAILABLE,
    `The monitors of ${place} do not answer: ${wordsOfCode(code)}`,
  );
}

const names: Readonly<Record<number, string>> = {
  [-1]: "not permitted",
  [-2]: "not found",
  [-13]: "access denied",
  [-22]: "invalid",
  [-107]: "not connected",
  [-110]: "no answer in time",
  [-111]: "connection refused",
};

function wordsOfCode(code: number): string {
  return names[code] ?? `error ${-code}`;
}

/** Returns the error for a change, such as archiving a crash, without `storage.ceph.operator`. */
export function operatorMissing(): InfraError {
  return new InfraError(
    cephReasons.CEPH_OPERATOR_MISSING,
    "The gateway has no operator key for the cluster: set `storage.ceph.operator` in the configuration",
  );
}

/** Returns the error for a crash report that the cluster does not have. @param id as `ceph crash ls` shows it */
export function crashNotFound(id: string): InfraError {
  return new InfraError(cephReasons.CRASH_NOT_FOUND, `crash not found: ${id}`, { resource: `crashes/${id}` });
}
