import { test } from "tap";
import { configSchema } from "../../../server/gateway/config/schema.ts";

const tls = { cert: "c", key: "k" };
const open = { auth: "none", services: ["proto.VGService"], role: "viewer" };

function messagesOf(listener: object): string[] {
  const { error } = configSchema.safeParse({ listen: [listener] });
  return (error?.issues ?? []).map(({ path, message }) => `${path.slice(2).join(".")}: ${message}`);
}

test("beyond loopback a listener needs TLS or insecure", async (t) => {
  for (const host of ["0.0.0.0", "[::]", "192.0.2.1", "gateway.example.org", "[2001:db8::1]"]) {
    const address = `${host}:8080`;
    t.match(messagesOf({ address }), [/^insecure: expected true, .* tls is not set/], host);
    t.match(messagesOf({ address, insecure: false }), [/^insecure: expected true/], host);
    t.same(messagesOf({ address, insecure: true }), [], host);
    t.same(messagesOf({ address, tls }), [], host);
    t.match(messagesOf({ address, tls, insecure: true }), [/^insecure: expected only/], host);
  }
  for (const host of ["127.0.0.1", "[::1]", "localhost"]) {
    t.same(messagesOf({ address: `${host}:8080` }), [], host);
    t.match(messagesOf({ address: `${host}:8080`, insecure: true }), [/^insecure: expected only/], host);
  }
});

test("without login it needs allowFrom and insecure, even over TLS", async (t) => {
  const address = "192.0.2.1:15441";
  t.match(messagesOf({ address, ...open }), [
    /^allowFrom: expected the addresses/,
    /^insecure: .*auth is none/,
  ]);
  t.match(messagesOf({ address, ...open, tls }), [/^allowFrom/, /^insecure: .*auth is none/]);
  t.match(messagesOf({ address, ...open, insecure: true }), [/^allowFrom/]);
  t.match(messagesOf({ address, ...open, allowFrom: ["192.0.2.0/24"] }), [/^insecure/]);
  t.same(messagesOf({ address, ...open, allowFrom: ["192.0.2.0/24"], insecure: true }), []);
  t.same(messagesOf({ address, ...open, tls, allowFrom: ["192.0.2.0/24"], insecure: true }), []);
  t.same(messagesOf({ address: "127.0.0.1:1", ...open }), []);
  t.same(messagesOf({ address: "unix:/a", mode: "0660", ...open }), []);
});

test("without login it needs its services and a role, which is never admin", async (t) => {
  const address = "127.0.0.1:1";
  t.match(messagesOf({ address, auth: "none" }), [/^services: .*auth is none/, /^role: .*auth is none/]);
  t.match(messagesOf({ address, ...open, services: [] }), [/^services/]);
  t.match(messagesOf({ address, ...open, role: "admin" }), [/^role/]);
  t.match(messagesOf({ address, role: "viewer" }), [/^role: expected only with auth: none/]);
  t.match(messagesOf({ address, auth: "login" }), [/^auth/]);
});

test("allowFrom has ranges, and needs a TCP address", async (t) => {
  t.match(messagesOf({ address: "127.0.0.1:1", allowFrom: ["10.0.0.1/8"] }), [
    /^allowFrom\.0: .*no bits set/,
  ]);
  t.match(messagesOf({ address: "127.0.0.1:1", allowFrom: [] }), [/^allowFrom/]);
  t.same(messagesOf({ address: "0.0.0.0:1", tls, allowFrom: ["10.0.0.0/8", "::1"] }), []);
  t.match(messagesOf({ address: "unix:/a", allowFrom: ["::1"], hosts: ["a"], tls, insecure: true }), [
    /^tls: expected only with a host:port/,
    /^allowFrom: expected only with a host:port/,
    /^hosts: expected only with a host:port/,
    /^insecure: expected only/,
  ]);
});

test("hosts are only for listeners that check the host name", async (t) => {
  t.same(
    messagesOf({ address: "127.0.0.1:1", hosts: ["gateway.example.org", "[2001:db8::1]", "192.0.2.1"] }),
    [],
  );
  t.match(messagesOf({ address: "0.0.0.0:1", tls, hosts: ["a"] }), [/^hosts: expected only with auth: none/]);
  const allowFrom = ["10.0.0.0/8"];
  t.same(messagesOf({ address: "0.0.0.0:1", ...open, allowFrom, insecure: true, hosts: ["a"] }), []);
  for (const host of ["", "a:1", "http://a", "a/", "*.a", "a b", ".a", "::1"]) {
    t.match(messagesOf({ address: "127.0.0.1:1", hosts: [host] }), [/^hosts\.0: expected a host name/], host);
  }
});

test("allowForwarded is for TCP addresses without login", (t) => {
  t.same(messagesOf({ address: "127.0.0.1:1", ...open, allowForwarded: true }), []);
  t.match(messagesOf({ address: "127.0.0.1:1", allowForwarded: true }), [/^allowForwarded/]);
  t.match(messagesOf({ address: "unix:/a", ...open, allowForwarded: true }), [/^allowForwarded/]);
  t.end();
});
