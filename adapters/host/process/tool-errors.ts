import { InfraError } from "../infra-error.ts";
import { hostReasons } from "../reasons.ts";

/** Returns the error for a tool stopped by its signal: the signal's own InfraError, or CALLER_LEFT. */
export function errorFromSignal(signal: AbortSignal, program: string): InfraError {
  if (signal.reason instanceof InfraError) {
    return signal.reason;
  }
  return new InfraError(hostReasons.CALLER_LEFT, `${program} was stopped because its caller left`, {
    cause: signal.reason,
  });
}

/** Returns the error for a tool whose stdin source failed: that failure, if it is an InfraError. */
export function errorFromSource(cause: unknown, program: string): InfraError {
  return cause instanceof InfraError
    ? cause
    : new InfraError(hostReasons.TOOL_FAILED, `the input of ${program} could not be read completely`, {
        cause,
      });
}

/** Returns the error for a tool whose output could not be processed: that failure, if it is an InfraError. */
export function errorFromReader(cause: unknown, program: string): InfraError {
  return cause instanceof InfraError
    ? cause
    : new InfraError(hostReasons.TOOL_FAILED, `the output of ${program} could not be processed`, { cause });
}

/** Returns the error for a program that could not be started: TOOL_MISSING if the user can fix it, else TOOL_FAILED. */
export function errorFromSpawn(program: string, cause: unknown): InfraError {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const effect = "none";
  if (code === "ENOENT") {
    return new InfraError(hostReasons.TOOL_MISSING, `${program} is not installed or not in PATH`, {
      cause,
      effect,
    });
  }
  if (code === "EACCES") {
    return new InfraError(hostReasons.TOOL_MISSING, `this user may not execute ${program}`, {
      cause,
      effect,
    });
  }
  return new InfraError(hostReasons.TOOL_FAILED, `${program} could not be started (${String(code)})`, {
    cause,
    effect,
  });
}
