import type { X509Certificate } from "node:crypto";

const nameTypes: ReadonlySet<string> = new Set(["DNS", "URI", "email"]);

/**
 * Whom a certificate is for: `CN=…` of its subject, and `DNS:…`, `URI:…`, `email:…` of its alternative names, each
 * exactly as the certificate has it. Names with control characters are left out. Empty when the alternative names
 * cannot be read without a doubt.
 */
export function namesFromCertificate(certificate: X509Certificate): string[] {
  const alternative = parseAlternativeNames(certificate.subjectAltName ?? "");
  if (alternative === undefined) {
    return [];
  }
  // Not `subject`: there OpenSSL has escaped the values, here they are as the certificate has them.
  const { CN = [] } = certificate.toLegacyObject().subject;
  const commonNames = [CN].flat().map((name) => `CN=${name}`);
  return [...new Set([...commonNames, ...alternative])].filter((name) => !/\p{Cc}/u.test(name));
}

/**
 * Reads Node's text of the alternative names: `DNS:a.example, URI:"http://a/b\u002cc", IP Address:192.0.2.1`. A
 * value that has a comma, a quotation mark or a control character is written as JSON with the commas escaped
 * (CVE-2021-44532), so that `, ` stands nowhere but between two names.
 * @returns `DNS:…`, `URI:…` and `email:…`, or undefined when the text is not of this form
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
