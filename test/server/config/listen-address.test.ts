import fc from "fast-check";
import { test } from "tap";
import { formatListenAddress, parseListenAddress } from "../../../server/config/listen-address.ts";

test("parses hosts, IPv6 hosts in brackets and sockets", async (t) => {
  t.same(parseListenAddress("127.0.0.1:8080"), { kind: "tcp", host: "127.0.0.1", port: 8080 });
  t.same(parseListenAddress("127.9.8.7:0"), { kind: "tcp", host: "127.9.8.7", port: 0 });
  t.same(parseListenAddress("LocalHost:1"), { kind: "tcp", host: "localhost", port: 1 });
  t.same(parseListenAddress("[::1]:443"), { kind: "tcp", host: "::1", port: 443 });
  t.same(parseListenAddress("unix:/run/a.sock"), { kind: "unix", path: "/run/a.sock" });
});

test("parses addresses that other machines can reach", async (t) => {
  t.same(parseListenAddress("0.0.0.0:80"), { kind: "tcp", host: "0.0.0.0", port: 80 });
  t.same(parseListenAddress("[::]:80"), { kind: "tcp", host: "::", port: 80 });
  t.same(parseListenAddress("Example.org:80"), { kind: "tcp", host: "example.org", port: 80 });
});

test("refuses text that is not an address", async (t) => {
  const texts = [
    "",
    "8080",
    ":8080",
    "127.0.0.1",
    "127.0.0.1:",
    "::1:80",
    "[::1]",
    "[x]:1",
    "[fe80::1%eth0]:1",
    "http://localhost:1",
  ];
  for (const text of texts) {
    t.match(parseListenAddress(text), /expected host:port/, text);
  }
  t.match(parseListenAddress("127.0.0.1:65536"), /from 0 to 65535/);
  for (const text of ["unix:", "unix:run/a", "unix:/run/"]) {
    t.match(parseListenAddress(text), /absolute path/, text);
  }
  t.match(parseListenAddress(`unix:/${"a".repeat(107)}`), /at most \d+ bytes/);
});

test("two spellings of an address have the same text", async (t) => {
  const texts = ["[::1]:80", "[0:0:0:0:0:0:0:1]:80", "[::0:1]:080"].map((text) => {
    const address = parseListenAddress(text);
    return typeof address === "string" ? address : formatListenAddress(address);
  });
  t.same(texts, ["[::1]:80", "[::1]:80", "[::1]:80"]);
});

test("every text gives an address or an explanation", async () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.ipV6().map((ip) => `[${ip}]:1`),
        fc.ipV4().map((ip) => `${ip}:1`),
      ),
      (text) => {
        const address = parseListenAddress(text);
        if (typeof address === "string") {
          return address.startsWith("expected ");
        }
        const again = parseListenAddress(formatListenAddress(address));
        return typeof again !== "string" && formatListenAddress(again) === formatListenAddress(address);
      },
    ),
  );
});
