const codes: ReadonlySet<unknown> = new Set(["EACCES", "EPERM"]);

/** Returns the fix for an error caused by missing permissions, directly or through its causes; undefined for any other error. */
export function permissionFix(error: unknown): string | undefined {
  if (!(error instanceof Error)) {
    return undefined;
  }
  return "code" in error && codes.has(error.code)
    ? "run this command as the gateway's user (`sudo -u hostplane hostplane doctor`), or give this user access"
    : permissionFix(error.cause);
}
