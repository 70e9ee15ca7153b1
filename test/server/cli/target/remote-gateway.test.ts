import { test } from "tap";
import { parseFingerprint } from "../../../../server/cli/target/certificate-pin.ts";
import { parseGatewayUrl } from "../../../../server/cli/target/remote-gateway.ts";

test("only URLs that keep the password secret are accepted", async (t) => {
  for (const text of [
    "https://gateway.example.org",
    "https://gateway.example.org:8443/hosts/a",
    "http://localhost:8080",
    "http://127.0.0.1:8080/",
    "http://[::1]:8080",
  ]) {
    t.equal(parseGatewayUrl(text, false).href, new URL(text).href, text);
  }
  t.equal(parseGatewayUrl("http://gateway", true).host, "gateway");
  const refusals: readonly (readonly [string, RegExp])[] = [
    ["http://gateway:8080", /cleartext: use https, or add --insecure/],
    ["http://127.0.0.1.example.org", /cleartext/],
    ["http://localhost.example.org", /cleartext/],
    ["gateway:8080", /expected the URL/],
    ["unix:/run/x.sock", /expected the URL/],
    ["https://gateway?x=1", /expected the URL/],
    ["https://alice:secret@gateway", /must not contain a password/],
  ];
  for (const [text, message] of refusals) {
    t.throws(() => parseGatewayUrl(text, false), { message }, text);
  }
});

test("a fingerprint is 32 bytes in hexadecimal, in any spelling", async (t) => {
  const digits = "0123456789abcdef".repeat(4);
  const withColons = digits.toUpperCase().replaceAll(/(..)(?=.)/g, "$1:");
  for (const text of [digits, `sha256:${digits}`, `SHA256:${withColons}`, withColons]) {
    t.equal(parseFingerprint(text), `sha256:${digits}`, text);
  }
  for (const text of ["", "sha256:", digits.slice(2), `${digits}00`, `sha1:${digits}`]) {
    t.equal(parseFingerprint(text), undefined, text);
  }
});
