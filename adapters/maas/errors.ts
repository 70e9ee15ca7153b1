import { InfraError } from "../host/infra-error.ts";
import { quotedLine } from "../host/quoted-line.ts";
import { maasReasons } from "./reasons.ts";

/** The request, for messages, and its machine. */
export interface RequestDescription {
  /** E.g. `deploy`. */
  readonly what: string;
  readonly systemId?: string | undefined;
}

/** A refusal: MAAS was reached, accepted the key, and rejected the request. */
export interface MaasRefusal {
  readonly status: 400 | 403 | 404 | 409;
  /** Its message, as returned by `quotedWords`; empty if there is none. */
  readonly words: string;
  /** Whether there was no body at all, as in MAAS's own 403 about a machine. */
  readonly isEmpty?: boolean;
}

const maxWordsLength = 400;

/**
 * Extracts the safe part of a reply's body: plain text, and messages of fields (`{"tags": ["No such tag(s): 'x'."]}`).
 * Leaves out HTML pages, which may come from a proxy or be MAAS's own with everything that a request contained;
 * messages about `user_data`; and keys.
 */
export function quotedWords(contentType: string, body: string): string {
  if (/^application\/json\b/.test(contentType)) {
    return shortened(wordsOfFields(body));
  }
  return /^text\/plain\b/.test(contentType) ? shortened(body) : "";
}

function wordsOfFields(body: string): string {
  try {
    const fields: unknown = JSON.parse(body);
    if (fields === null || typeof fields !== "object") {
      return typeof fields === "string" ? fields : "";
    }
    const described = Object.entries(fields).map(([field, messages]) => {
      const list = Array.isArray(messages) ? messages : [messages];
      const words = list.filter((message) => typeof message === "string").join(" ");
      return `${field}: ${field === "user_data" || words === "" ? "not accepted" : words}`;
    });
    return described.join("; ");
  } catch {
    return "";
  }
}

function shortened(words: string): string {
  // Long text without spaces may be a key, or base64 data for cloud-init.
  return quotedLine(words.replace(/[A-Za-z0-9+/=]{40,}/g, "…"), maxWordsLength);
}

function resourceOf(systemId: string | undefined) {
  return systemId === undefined ? {} : { resource: `maas/machines/${systemId}` };
}

/** Converts a refusal to the error that the caller gets. */
export function errorFromRefusal(
  { status, words }: MaasRefusal,
  { what, systemId }: RequestDescription,
): InfraError {
  const facts = resourceOf(systemId);
  const detail = words === "" ? "" : `: ${words}`;
  // Django's message for a missing object. A 404 from a proxy, or about another path, says nothing about a machine.
  if (status === 404 && systemId !== undefined && /\bmatches the given query\b/.test(words)) {
    return new InfraError(maasReasons.MACHINE_NOT_FOUND, `MAAS has no machine ${systemId}`, facts);
  }
  if (status === 400 && !words.startsWith("Unrecognised signature")) {
    return new InfraError(maasReasons.MAAS_REFUSED, `MAAS refuses to ${what}${detail}`, facts);
  }
  if (status === 409 && /^No machine with system ID\b/.test(words)) {
    return new InfraError(maasReasons.MACHINE_TAKEN, `MAAS does not ${what}: the machine is not free`, facts);
  }
  if (status === 409 && /^No (available machine matches|machine available)\b/.test(words)) {
    return new InfraError(
      maasReasons.NO_MACHINE,
      `MAAS has no free machine that meets the constraints${detail}`,
      facts,
    );
  }
  if (status === 409 && systemId !== undefined) {
    return new InfraError(
      maasReasons.MACHINE_STATE,
      `MAAS does not ${what} machine ${systemId}${detail}`,
      facts,
    );
  }
  if (status === 403) {
    const message = `The account may not ${what} in MAAS${detail}: grant it the permission, or use another account's API key`;
    return new InfraError(maasReasons.MAAS_DENIED, message, facts);
  }
  return new InfraError(maasReasons.MAAS_FAILED, `MAAS answered ${status} to ${what}${detail}`, facts);
}

/** Converts a refusal of a reservation, for which MAAS has other messages. */
export function errorFromReservation(refusal: MaasRefusal, description: RequestDescription): InfraError {
  const { status, words } = refusal;
  // `The IP address 10.20.0.9 is already in use.`
  if (status === 404 && /\balready in use\b/.test(words)) {
    return new InfraError(maasReasons.ADDRESS_TAKEN, `MAAS does not ${description.what}: ${words}`);
  }
  // 404 `10.20.0.9 is within the reserved range from …`,
  // 403 `10.9.0.9 is not within subnet CIDR: …`,
  // 403 `IP address 10.20.0.9 belongs to an existing dynamic range. …`,
  // 404 `No Domain matches the given query.`
  if (/\bwithin\b|\bdynamic range\b|^No Domain matches\b/.test(words)) {
    return errorFromRefusal({ ...refusal, status: 400 }, description);
  }
  return errorFromRefusal(refusal, description);
}

/** Creates the error for a change of a machine that has another owner. */
export function machineOfOthers(owner: string, { what, systemId }: RequestDescription): InfraError {
  const message = `MAAS does not ${what} machine ${systemId}: it belongs to ${owner}`;
  return new InfraError(maasReasons.MACHINE_TAKEN, message, resourceOf(systemId));
}

/**
 * Creates the error for a machine that MAAS hides: it answers 403 without a body about another user's machine unless
 * the account is an administrator.
 */
export function machineHidden({ systemId }: RequestDescription): InfraError {
  const message = `machine ${systemId} belongs to another MAAS user, so MAAS does not show it to the gateway's account`;
  return new InfraError(maasReasons.MACHINE_TAKEN, message, resourceOf(systemId));
}

/** Returns the error for a change of a machine that is locked in MAAS, which answers 403 without a reason. */
export function machineLocked({ what, systemId }: RequestDescription): InfraError {
  const message = `MAAS does not ${what} machine ${systemId}: it is locked`;
  return new InfraError(maasReasons.MACHINE_LOCKED, message, resourceOf(systemId));
}

/** Converts a reply with which MAAS reports that it is busy. */
export function errorFromBusy(
  { status, words }: { readonly status: number; readonly words: string },
  { what, systemId }: RequestDescription,
  { url, retryAfterMs }: { readonly url: string; readonly retryAfterMs: number | undefined },
): InfraError {
  const facts = { ...resourceOf(systemId), ...(retryAfterMs !== undefined && { retryAfterMs }) };
  const detail = words === "" ? "" : `: ${words}`;
  // `No more IPs available in subnet: …`, and for a deployment
  // `…: Unable to allocate static IP due to address exhaustion.`
  if (/\bNo more IPs available\b|\baddress exhaustion\b/.test(words)) {
    return new InfraError(maasReasons.NO_ADDRESS, `MAAS has no free address${detail}`, facts);
  }
  // A reply without a message concerns every request, so the error names none and is the same for all.
  const message =
    detail === ""
      ? `MAAS at ${url} is unavailable: it, or a proxy in front of it, answered ${status}; check that the region controller is running`
      : `MAAS answered ${status} to ${what}${detail}`;
  return new InfraError(maasReasons.MAAS_UNAVAILABLE, message, facts);
}

const toleratedSkewMs = 300_000;

/**
 * Creates the error for a rejected signature. The reply's body is never read: 3.4.10 answers a wrong secret with the
 * correct one.
 * @param date the `Date` header
 */
export function errorFromUnauthorized(url: string, date: string | undefined, nowMs: number): InfraError {
  const skewMs = date === undefined ? Number.NaN : Date.parse(date) - nowMs;
  if (Math.abs(skewMs) > toleratedSkewMs) {
    const side = skewMs > 0 ? "behind" : "ahead of";
    const seconds = Math.round(Math.abs(skewMs) / 1000);
    const message = `MAAS at ${url} denies access: the clock here is ${seconds} s ${side} its own, and at most 300 s are allowed; synchronize the clocks with NTP`;
    return new InfraError(maasReasons.MAAS_DENIED, message);
  }
  const message = `MAAS at ${url} denies access: configure a valid API key, from the user's preferences in MAAS`;
  return new InfraError(maasReasons.MAAS_DENIED, message);
}

/** Creates the error for an unexpected status. */
export function errorFromStatus(status: number, { what, systemId }: RequestDescription): InfraError {
  const why = status >= 300 && status < 400 ? "; configure the address that it redirects to" : "";
  return new InfraError(
    maasReasons.MAAS_FAILED,
    `MAAS answered ${status} to ${what}${why}`,
    resourceOf(systemId),
  );
}

/** Creates the error for a reply that cannot be parsed. */
export function notUnderstood(what: string, why: string): InfraError {
  return new InfraError(maasReasons.MAAS_FAILED, `MAAS sent an invalid reply about ${what}: ${why}`);
}

/** Converts the error of a call that got no reply. */
export function errorFromCall(error: unknown, url: string): InfraError {
  if (error instanceof InfraError) {
    return error;
  }
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const name = error instanceof Error ? error.name : undefined;
  const cannot = (words: string, facts = {}) =>
    new InfraError(maasReasons.MAAS_UNAVAILABLE, `MAAS at ${url} cannot be reached: ${words}`, facts);
  // Its `data` is the unparsable reply, which may be MAAS's message about a wrong key.
  if (name === "HTTPParserError") {
    return cannot("the reply is not HTTP");
  }
  return cannot(name === "TimeoutError" ? "no answer in time" : wordsOfCode(code), { cause: error });
}

function wordsOfCode(code: unknown): string {
  if (typeof code !== "string") {
    return "the connection was lost";
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|ALTNAME/.test(code)) {
    return `its certificate is not trusted (${code})`;
  }
  return knownCodes[code] ?? code;
}

const knownCodes: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was lost",
  ENOTFOUND: "its host name does not exist",
  EAI_AGAIN: "its host name cannot be resolved",
  EPIPE: "the connection was lost",
  UND_ERR_SOCKET: "the connection was lost",
  UND_ERR_CONNECT_TIMEOUT: "no answer in time",
  UND_ERR_DESTROYED: "the gateway is stopping",
};
