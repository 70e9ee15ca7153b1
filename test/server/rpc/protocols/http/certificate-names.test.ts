import { X509Certificate } from "node:crypto";
import fc from "fast-check";
import { test } from "tap";
import {
  namesFromCertificate,
  parseAlternativeNames,
} from "../../../../../server/rpc/protocols/http/certificate-names.ts";
import { createAuthority } from "../../listener/authority.ts";

test("names with commas, quotes and backslashes are read exactly as in the certificate", async (t) => {
  const authority = await createAuthority(t, "names");
  const { cert } = await authority.issue(
    '/O=Acme, Inc./CN=other/OU=a+OU=b/CN=al"ice, DNS:admin \\\\ \\+é',
    [
      "subjectAltName = @names",
      "[names]",
      "DNS.1 = a.example",
      "DNS.2 = x, DNS:admin",
      "URI.1 = spiffe://cluster/ns/a,b",
      "email.1 = me@example.org",
      "IP.1 = 192.0.2.1",
      "otherName.1 = 1.2.3.4;UTF8:some, DNS:admin",
      "dirName.1 = directory",
      "[directory]",
      "CN = foo, DNS:admin",
    ].join("\n"),
  );
  t.same(namesFromCertificate(new X509Certificate(cert)), [
    "CN=other",
    'CN=al"ice, DNS:admin \\ +é',
    "DNS:a.example",
    "DNS:x, DNS:admin",
    "URI:spiffe://cluster/ns/a,b",
    "email:me@example.org",
  ]);
});

test("a certificate without names has none, and names with control characters are omitted", async (t) => {
  const authority = await createAuthority(t, "names");
  const bare = await authority.issue("/O=only");
  t.same(namesFromCertificate(new X509Certificate(bare.cert)), []);
  const odd = await authority.issue("/CN=a\nCN=admin", "subjectAltName = DNS:b");
  t.same(namesFromCertificate(new X509Certificate(odd.cert)), ["DNS:b"]);
});

test("parses Node's text of alternative names", async (t) => {
  t.same(parseAlternativeNames(""), []);
  t.same(parseAlternativeNames("DNS:a, IP Address:192.0.2.1, URI:http://a/?b:c, email:a@b"), [
    "DNS:a",
    "URI:http://a/?b:c",
    "email:a@b",
  ]);
  t.same(parseAlternativeNames(String.raw`DNS:"a\u002c DNS:b", DNS:"\"q\\", DirName:"CN=x"`), [
    "DNS:a, DNS:b",
    'DNS:"q\\',
  ]);
  for (const text of [
    "DNS",
    "DNS:a,b",
    'DNS:"a',
    'DNS:"a", b"',
    'DNS:a"b',
    "DNS:a\\",
    ":a",
    "DNS:a, ",
    'DNS:"a, DNS:b"',
  ]) {
    t.equal(parseAlternativeNames(text), undefined, text);
  }
});

/** Formats a value as Node does (src/crypto/crypto_x509.cc, PrintAltName). */
function writtenByNode(value: string): string {
  return /[^ -~]|["\\,']/.test(value) ? JSON.stringify(value).replaceAll(",", "\\u002c") : value;
}

test("any names formatted by Node are parsed back", async () => {
  const name = fc.tuple(
    fc.constantFrom("DNS", "URI", "email"),
    fc.string({ unit: fc.constantFrom(..."ab,\":' \\DNS", "\n", "é") }),
  );
  fc.assert(
    fc.property(fc.array(name), (names) => {
      const text = names.map(([type, value]) => `${type}:${writtenByNode(value)}`).join(", ");
      const read = parseAlternativeNames(text);
      return JSON.stringify(read) === JSON.stringify(names.map(([type, value]) => `${type}:${value}`));
    }),
    { numRuns: 2000 },
  );
});

test("no text throws", async () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'DNS:, "\\au0') }), (text) => {
      const names = parseAlternativeNames(text);
      return names === undefined || names.every((name) => /^(DNS|URI|email):/.test(name));
    }),
    { numRuns: 5000 },
  );
});
