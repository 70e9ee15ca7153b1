import type { Repository } from "./adapter.ts";

/** Removes the secrets of a repository from a text, in every encoding: plain, in a URL, in JSON. */
export type Redact = (text: string) => string;

const replacement = "[secret]";
// Shorter secrets would occur in any text, and redacting them would reveal them.
const shortest = 4;

/**
 * Creates the `Redact` for a repository: its password, its S3 keys, and the user names and passwords of its proxies, if
 * they have at least four characters.
 */
export function createRedact({ password, access, httpProxy, httpsProxy }: Repository): Redact {
  const plain = [
    password,
    ...(access === undefined ? [] : [access.accessKeyId, access.secretAccessKey, access.sessionToken ?? ""]),
    ...[httpProxy, httpsProxy].flatMap(credentialsOfUrl),
  ];
  const forms = plain
    .filter((secret) => secret.length >= shortest)
    .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]);
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(
    longestFirst.map((form) => form.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|"),
    "g",
  );

  return (text) => {
    // Only the last bytes of a tool's output are kept, so it may begin in the middle of a secret.
    const cut = Math.max(0, ...longestFirst.map((form) => overlap(form, text)));
    const whole = cut === 0 ? text : `${replacement}${text.slice(cut)}`;
    return longestFirst.length === 0 ? whole : whole.replace(pattern, replacement);
  };
}

function credentialsOfUrl(text: string | undefined): string[] {
  const url = URL.parse(text ?? "");
  if (url === null) {
    return [];
  }
  return [url.username, url.password].flatMap((part) => [part, decoded(part)]);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the length of the longest proper suffix of `secret` with which `text` begins. */
function overlap(secret: string, text: string): number {
  for (let length = secret.length - 1; length >= shortest; length -= 1) {
    if (text.startsWith(secret.slice(-length))) {
      return length;
    }
  }
  return 0;
}
