import type { Reason } from "../host/define-reasons.ts";
import { InfraError } from "../host/infra-error.ts";
import type { ToolResult } from "../host/process/tool-result.ts";
import { hostReasons } from "../host/reasons.ts";
import { resticReasons } from "./reasons.ts";
import type { Redact } from "./secrets.ts";

/**
 * Exit codes since restic 0.17. Before, all failures exited with 1 (or 2 and 130 for faults and signals), and they differ
 * in their messages only.
 */
const exitCodes: Readonly<Record<number, Reason>> = {
  10: resticReasons.REPOSITORY_NOT_FOUND,
  11: resticReasons.REPOSITORY_LOCKED,
  12: resticReasons.REPOSITORY_KEY_WRONG,
  // sh: restic: not found; env: 'restic': No such file or directory (from the program in front of restic)
  126: hostReasons.TOOL_MISSING,
  127: hostReasons.TOOL_MISSING,
};

/**
 * Each pattern follows a sample of the output that it matches, from restic 0.14.0 unless noted. The first match counts.
 */
const patterns: readonly (readonly [RegExp, Reason])[] = [
  // cannot dump file: Write: write /dev/stdout: no space left on device (about the target, not the repository)
  [/write \/dev\/stdout: /, hostReasons.TOOL_FAILED],
  // Fatal: wrong password or no key found
  [/wrong password or no key found/, resticReasons.REPOSITORY_KEY_WRONG],
  // unable to create lock in backend: repository is already locked by PID 21962 on vm by root (UID 0, GID 0)
  [/repository is already locked/, resticReasons.REPOSITORY_LOCKED],
  // Fatal: config or key edd6e96d... is damaged: ciphertext verification failed
  [/(config or key|file) \S+ is damaged/, resticReasons.BACKUP_DAMAGED],
  // Fatal: unable to open config file: Stat: Access Denied.
  // Fatal: unable to open repository at /srv/backup: ReadDir: open /srv/backup/keys: permission denied
  [
    /Access ?Denied|Forbidden|permission denied|Proxy Authentication Required/i,
    resticReasons.REPOSITORY_DENIED,
  ],
  // Fatal: unable to open config file: Stat: The access key ID you provided does not exist in our records.
  [/InvalidAccessKeyId|Access Key I[dD] you provided does not exist/i, resticReasons.REPOSITORY_DENIED],
  // Fatal: unable to open config file: Stat: The request signature we calculated does not match the signature you provided. ...
  [/SignatureDoesNotMatch|request signature we calculated does not match/i, resticReasons.REPOSITORY_DENIED],
  // Fatal: unable to open config file: Stat: The provided token has expired.
  // Fatal: unable to open config file: Stat: The provided token is malformed or otherwise invalid.
  [
    /(security|provided) token .*(invalid|expired)|ExpiredToken|InvalidToken/i,
    resticReasons.REPOSITORY_DENIED,
  ],
  // Fatal: unable to save snapshot: write /srv/backup/data/24/24dfd605...-tmp-688328458: no space left on device
  [
    /no space left on device|disk quota exceeded|QuotaExceeded|read-only file system/i,
    resticReasons.REPOSITORY_DENIED,
  ],
  // Get "http://127.0.0.1:9/bucket/?location=": dial tcp 127.0.0.1:9: connect: connection refused
  [
    /\b(dial (tcp|udp)|proxyconnect|connection (refused|reset)|no such host|i\/o timeout|deadline exceeded)\b/,
    resticReasons.REPOSITORY_UNREACHABLE,
  ],
  // Get "https://...": x509: certificate signed by unknown authority
  // Get "https://...": http: server gave HTTP response to HTTPS client
  [
    /\b(x509|tls): |server gave HTTP response|server misbehaving|network is unreachable/,
    resticReasons.REPOSITORY_UNREACHABLE,
  ],
  // Get "http://127.0.0.1:443/bucket/?location=": Connection closed by foreign host http://... Retry again.
  [/Connection closed by foreign host/, resticReasons.REPOSITORY_UNREACHABLE],
  // Fatal: unable to open config file: Stat: Please reduce your request rate.
  // Fatal: unable to open config file: Stat: We encountered an internal error, please try again.
  [
    /Service ?Unavailable|Slow ?Down|reduce your request rate|Internal ?(Server )?Error|Bad Gateway|Gateway Time-?out/i,
    resticReasons.REPOSITORY_UNREACHABLE,
  ],
  // Load(<data/fb6a5afe7b>, 1616799, 0) returned error, retrying after 1s: Get "http://...": EOF
  [/https?:\/\/\S+: (unexpected )?EOF/, resticReasons.REPOSITORY_UNREACHABLE],
  // The server is not an S3 store, or the bucket is in another location:
  // Fatal: unable to open config file: Stat: XML syntax error on line 1: unexpected EOF
  // ... Stat: The bucket you are attempting to access must be addressed using the specified endpoint.
  [/XML syntax error|must be addressed using the specified endpoint/, resticReasons.REPOSITORY_UNREACHABLE],
  // invalid id "deadbeef...": no matching ID found for prefix "deadbeef..."
  // cannot dump file: path "/nope" not found in snapshot
  [/no matching ID found|no snapshot found|path ".*" not found in snapshot/, resticReasons.BACKUP_NOT_FOUND],
  // cannot dump file: decrypting blob 001831c3... failed: ciphertext verification failed
  // loading snapshot "38944138..." failed: load <snapshot/38944138ad>: invalid data returned
  // Ignoring "38944138...", could not load snapshot: load <snapshot/38944138ad>: invalid data returned
  [/ciphertext verification failed|invalid data returned|wrong data returned/, resticReasons.BACKUP_DAMAGED],
  // loading tree for snapshot "38944138..." failed: id 01a04c30... not found in repository
  [/(id|blob) [\w/<>]+ not found in (repository|index)/, resticReasons.BACKUP_DAMAGED],
  // cannot dump file: ReadFull(<data/fb6a5afe7b>): unexpected EOF (or EOF, if the file is empty)
  // cannot dump file: ReadFull(<data/fb6a5afe7b>): open /srv/backup/data/fb/fb6a5a...: no such file or directory
  // cannot dump file: ReadFull(<data/fb6a5afe7b>): The specified key does not exist.
  [
    /<(data|index|snapshot)\/\w+>((?!https?:).)*(\bEOF|no such file|does not exist)/,
    resticReasons.BACKUP_DAMAGED,
  ],
  // Fatal: unable to open config file: stat /srv/backup/config: no such file or directory
  // Fatal: unable to open config file: Stat: The specified bucket does not exist
  // Fatal: repository does not exist: unable to open config file: ... (0.17)
  [/unable to open config file.*(no such file|does not exist)/i, resticReasons.REPOSITORY_NOT_FOUND],
];

// An S3 store's message may have any length.
const maxWordsLength = 1_000;

/** Lines that add nothing to the error's reason, and stack traces of a crash. */
const noise =
  /^(Is there a repository at the following location|the `unlock` command can be used|lock was created at|storage ID |goroutine |\s|signal \w+ received|github\.com\/|main\.|runtime\.)/;

/**
 * Converts a failure of restic, whatever its exit code. The reason is derived from the full output, since a secret may
 * be part of a message; the error's message is redacted.
 */
export function errorFromFailure({ argv, exitCode, signal, stderr }: ToolResult, redact: Redact): InfraError {
  const text = messagesOf(stderr).join("\n");
  const reason = exitCodes[exitCode ?? 0] ?? reasonOfText(text) ?? hostReasons.TOOL_FAILED;
  const words = redact(text)
    .split("\n")
    .filter((line) => line.trim() !== "" && !noise.test(line))
    .slice(-3)
    .join("; ")
    .slice(0, maxWordsLength);
  const end = exitCode === null ? `was ended by ${signal}` : `ended with exit code ${exitCode}`;
  return new InfraError(reason, `${commandName(argv)} ${end}: ${words || "no error message"}`);
}

/** Returns the reason that matches a message of restic. */
export function reasonOfText(text: string): Reason | undefined {
  return patterns.find(([pattern]) => pattern.test(text))?.[1];
}

/**
 * Splits stderr into messages; since 0.17 some lines are JSON: {"message_type":"exit_error","code":12,"message":"Fatal:
 * ..."}.
 */
function messagesOf(stderr: string): string[] {
  // "\u001b[2K" clears a line of a terminal: restic prints it before its message on a signal.
  return stderr.replaceAll("\u001b[2K", "").split("\n").map(messageOf);
}

function messageOf(line: string): string {
  if (!line.startsWith("{")) {
    return line.trimEnd();
  }
  try {
    const { message, error } = JSON.parse(line) as { message?: unknown; error?: { message?: unknown } };
    return String(message ?? error?.message ?? line);
  } catch {
    return line;
  }
}

/** Returns e.g. `restic backup`, without its options. */
function commandName(argv: readonly string[]): string {
  const at = argv.findIndex((word) => word === "--no-cache" || word === "--cache-dir");
  return argv.slice(0, at === -1 ? 1 : at).join(" ");
}
