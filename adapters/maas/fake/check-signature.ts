import type { MaasApiKey } from "../names.ts";
import { type FakeAnswer, textAnswer } from "./answer.ts";
import type { FakeRequest } from "./request.ts";

export interface FakeUser {
  readonly username: string;
  readonly isAdmin: boolean;
  readonly apiKey: MaasApiKey;
}

/** A signed request and its signer. */
export interface SignedRequest extends FakeRequest {
  readonly user: FakeUser;
  readonly form: URLSearchParams;
}

const maxAgeSeconds = 300;

/**
 * Creates the OAuth check of piston, MAAS's library: in its order and with its messages, including the expected secret.
 * @returns the user, or the refusal
 */
export function createSignatureCheck(
  users: readonly FakeUser[],
  nowMs: () => number,
): (request: FakeRequest) => FakeUser | { readonly refusal: FakeAnswer } {
  const nonces = new Map<string, number>();

  function forgetOldNonces(nowSeconds: number): void {
    for (const [nonce, seconds] of nonces) {
      if (nowSeconds - seconds > maxAgeSeconds) {
        nonces.delete(nonce);
      }
    }
  }

  return (request) => {
    const parameters = parametersFrom(request.authorization ?? "");
    if (parameters === undefined) {
      return { refusal: anonymous(request) };
    }
    const nowSeconds = Math.floor(nowMs() / 1000);
    const consumer = parameters.get("oauth_consumer_key");
    const token = parameters.get("oauth_token");
    const nonce = parameters.get("oauth_nonce") ?? "";
    const timestamp = Number(parameters.get("oauth_timestamp"));
    const user = users.find(({ apiKey }) => apiKey.consumer === consumer && apiKey.token === token);
    if (!users.some(({ apiKey }) => apiKey.consumer === consumer)) {
      return { refusal: unauthorized("Invalid API key.") };
    }
    if (user === undefined) {
      return { refusal: unauthorized(`'Invalid access token: ${token}'`) };
    }
    if (!(nowSeconds - timestamp <= maxAgeSeconds)) {
      const words = `'Expired timestamp: given ${timestamp} and now ${nowSeconds} has a greater difference than threshold ${maxAgeSeconds}'`;
      return { refusal: unauthorized(words) };
    }
    forgetOldNonces(nowSeconds);
    if (nonces.has(`${token} ${nonce}`)) {
      return { refusal: unauthorized(`'Nonce already used: ${nonce}'`) };
    }
    nonces.set(`${token} ${nonce}`, timestamp);
    const expected = `&${user.apiKey.secret}`;
    return parameters.get("oauth_signature") === expected
      ? user
      : { refusal: unauthorized(`'Invalid signature. Expected signature base string: ${expected}'`) };
  };
}

/** Undefined for an invalid header. */
function parametersFrom(header: string): ReadonlyMap<string, string> | undefined {
  const [, list] = /^OAuth\s+(.*)$/s.exec(header) ?? [];
  if (list === undefined) {
    return undefined;
  }
  try {
    const pairs = list.split(",").map((part): [string, string] => {
      const [, key, value = ""] = /^\s*(\w+)="([^"]*)"\s*$/.exec(part) ?? [];
      if (key === undefined) {
        throw new SyntaxError(part);
      }
      return [key, decodeURIComponent(value)];
    });
    return new Map(pairs);
  } catch {
    return undefined;
  }
}

function anonymous({ method, path, op }: FakeRequest): FakeAnswer {
  // Machines have an anonymous handler, which allows next to nothing.
  return /\/machines\/$/.test(path)
    ? textAnswer(400, `Unrecognised signature: method=${method} op=${op ?? "None"}`)
    : { status: 401, text: "Forbidden", headers: { "content-type": "text/plain" } };
}

function unauthorized(words: string): FakeAnswer {
  return {
    status: 401,
    text: `Authorization Error: ${words}`,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "www-authenticate": 'OAuth realm="OAuth"',
      vary: "Cookie",
    },
  };
}
