import type { X509Certificate } from "node:crypto";

const nameTypes: ReadonlySet<string> = new Set(["DNS", "URI", "email"]);

/**
 * Returns the names in a certificate: `CN=…` of its subject, and `DNS:…`, `URI:…`, `email:…` of its alternative names, each
 * exactly as in the certificate. Names with control characters are omitted. Returns nothing if the alternative names cannot be
 * parsed unambiguously.
 */
export function namesFromCertificate(certificate: X509Certificate): string[] {
  const alternative = parseAlternativeNames(certificate.subjectAltName ?? "");
  if (alternative === undefined) {
    return [];
  }
  // Not `subject`: OpenSSL escapes the values there. The legacy object has them as in the certificate.
  const { CN = [] } = certificate.toLegacyObject().subject;
  const commonNames = [CN].flat().map((name) => `CN=${name}`);
  return [...new Set([...commonNames, ...alternative])].filter((name) => !/\p{Cc}/u.test(name));
}

/**
 * Parses Node's text of the alternative names: `DNS:a.example, URI:"http://a/b\u002cc", IP Address:192.0.2.1`. A value with a
 * comma, a quotation mark or a control character is written as JSON with escaped commas (CVE-2021-44532), so `, ` only occurs
 * between two names.
 * @returns `DNS:…`, `URI:…` and `email:…`, or undefined if the text has another form
 */
export function parseAlternativeNames(text: string): string[] | undefined {
  if (text === "") {
    return [];
  }
  const names: string[] = [];
  for (const entry of text.split(", ")) {
    const [, type, value] = /^([^:",]+):([^,]*)$/s.exec(entry) ?? [];
    if (type === undefined || value === undefined) {
      return undefined;
    }
    if (!nameTypes.has(type)) {
      continue;
    }
    const name = unquoted(value);
    if (name === undefined) {
      return undefined;
    }
    names.push(`${type}:${name}`);
  }
  return names;
}

function unquoted(text: string): string | undefined {
  if (!text.startsWith('"')) {
    return /["\\]/.test(text) ? undefined : text;
  }
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
