const another = "choose another address with --listen";

/** What a user can do about an address that cannot be bound, by the system's error code. */
const fixes: Readonly<Record<string, string>> = {
  EADDRINUSE: `another program uses it, perhaps another hostplane: stop that program, or ${another}`,
  EACCES: `this user may not use it: ports below 1024 need root or CAP_NET_BIND_SERVICE; or ${another}`,
  EADDRNOTAVAIL: `this host does not have that IP address: ${another}`,
  ENOTFOUND: `the name has no IP address: ${another}`,
};

/**
 * The error of an address that cannot be bound, in words for the user.
 * @param address as the configuration has it
 */
export function explainListenFailure(error: unknown, address: string): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const fix = fixes[code];
  // Without the cause: the command line would append its message.
  return fix === undefined ? error : new Error(`cannot listen on ${address} (${code}): ${fix}`);
}
