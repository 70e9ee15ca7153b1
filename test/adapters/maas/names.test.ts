import { inspect } from "node:util";
import fc from "fast-check";
import { test } from "tap";
import {
  assertAddress,
  assertAgentName,
  assertAnnotation,
  assertArchitecture,
  assertComment,
  assertHostname,
  assertPlaceName,
  assertSeries,
  assertSubnet,
  assertSystemId,
  assertTag,
  assertUsername,
  parseApiKey,
  parseMaasUrl,
} from "../../../adapters/maas/names.ts";
import { anyUrl } from "../../any-url.ts";
import { reasonOfCall } from "../host/reason-of.ts";

const asserts = {
  systemId: assertSystemId,
  agentName: assertAgentName,
  annotationKey: (key: string, field: string) => assertAnnotation(key, "value", field),
  annotationValue: (value: string, field: string) => assertAnnotation("key", value, field),
  tag: assertTag,
  place: assertPlaceName,
  architecture: assertArchitecture,
  series: assertSeries,
  username: assertUsername,
  comment: assertComment,
  address: assertAddress,
  subnet: assertSubnet,
  hostname: assertHostname,
} as const;

const good: Readonly<Record<keyof typeof asserts, readonly string[]>> = {
  systemId: ["m6rnsc", "sbxaaa", "7h8k3p"],
  agentName: ["kaas/1f6a/slot-7", "a", "juju:x.y_z"],
  annotationKey: ["kaas-slot", "a.b_c", "Op"],
  annotationValue: ["x", "ü = & \u{1f600}", "op"],
  tag: ["standard", "gpu_a100", "-x"],
  place: ["default", "zone 2", "kube-1"],
  architecture: ["amd64", "amd64/generic", "arm64/hwe-22.04"],
  series: ["noble", "ubuntu/noble", "os=ubuntu-noble,k8s=1.36.3,standard", "custom/a+b_c"],
  username: ["hostplane", "a.b@c-d+e"],
  comment: ["", "why not"],
  address: ["10.20.0.2", "2001:db8::1"],
  subnet: ["10.20.0.0/24", "2001:db8::/64", "0.0.0.0/0"],
  hostname: ["prod-api", "prod-api.maas", "a"],
};

const bad: Readonly<Record<keyof typeof asserts, readonly string[]>> = {
  systemId: ["", "m6rns", "m6rnscc", "M6RNSC", "zzzzzz", "../abc", "m6rns\n"],
  agentName: ["", "/a", "a b", "a\n", `a${"b".repeat(255)}`],
  annotationKey: ["", "a b", "a/b", "op", "ü", "a\n"],
  annotationValue: ["", "a\nb", "\0", "x".repeat(4097)],
  tag: ["", "a,b", "a b", "ü"],
  place: ["", " a", "-a", "a/b", "a\n"],
  architecture: ["", "amd64/", "a b", "amd64/a/b"],
  series: ["", "/x", "a b", "a\n", "-x", "a;b"],
  username: ["", "a b", "a/b"],
  comment: ["a\nb", "\u0085", "x".repeat(1025)],
  address: ["", "10.20.0", "10.20.0.0/24", "fe80::1%eth0", "maas"],
  subnet: ["", "10.20.0.0", "10.20.0.0/33", "10.20.0.0/-1", "fe80::%1/64", "a/8", "::/129"],
  hostname: ["", "A", "a..b", "-a", "a_b", "a.", "a".repeat(64)],
};

test("accepts names, and nothing that could be more than a name", async (t) => {
  for (const [kind, assert] of Object.entries(asserts) as [keyof typeof asserts, (typeof asserts)["tag"]][]) {
    for (const name of good[kind]) {
      t.doesNotThrow(() => assert(name, kind), `${kind} ${name}`);
    }
    for (const name of bad[kind]) {
      t.equal(await reasonOfCall(() => assert(name, kind)), "INVALID_FIELD", `${kind} ${inspect(name)}`);
    }
  }
});

test("a valid system id is a safe part of a path", async (t) => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ maxLength: 8 }), fc.stringMatching(/^[a-y3-8]{6}$/)), (text) => {
      const path = `/MAAS/api/2.0/machines/${text}/`;
      try {
        assertSystemId(text, "systemId");
      } catch {
        return true;
      }
      return new URL(path, "http://maas").pathname === path && path.split("/").length === 7;
    }),
  );
  t.pass();
});

test("an API key has three parts, and no error contains any of them", async (t) => {
  t.same(parseApiKey(" a:b:c\n", "apiKey"), { consumer: "a", token: "b", secret: "c" });
  const part = fc.stringMatching(/^[\x21-\x39\x3b-\x7e]+$/);
  fc.assert(
    fc.property(part, part, part, (consumer, token, secret) => {
      const parsed = parseApiKey(`${consumer}:${token}:${secret}`, "apiKey");
      return parsed.consumer === consumer && parsed.token === token && parsed.secret === secret;
    }),
  );
  const wrong = ["", "a:b", "a:b:c:d", "a::c", "a b:c:d", "ü:b:c", "hidden:b\n:c"];
  for (const text of wrong) {
    try {
      parseApiKey(text, "apiKey");
      t.fail(text);
    } catch (error) {
      t.match(error, { reason: "INVALID_FIELD" });
      t.notMatch(inspect(error), /hidden/);
    }
  }
});

test("a MAAS has one normalized URL, however it is written", async (t) => {
  for (const text of [
    "http://maas:5240/MAAS",
    "http://maas:5240/MAAS/",
    "HTTP://MAAS:5240/MAAS/api/2.0/",
    "http://maas:5240",
    "http://maas:5240/",
    "http://maas:5240/MAAS//",
  ]) {
    t.equal(parseMaasUrl(text, "url"), "http://maas:5240/MAAS", text);
  }
  t.equal(parseMaasUrl("https://example.org:443/r/MAAS", "url"), "https://example.org/r/MAAS");
  for (const text of [
    "",
    "maas:5240",
    "ftp://maas/",
    "http://a:b@maas/MAAS",
    "http://maas/?x",
    "http://maas/#x",
  ]) {
    t.equal(await reasonOfCall(() => parseMaasUrl(text, "url")), "INVALID_FIELD", text);
  }
  fc.assert(
    fc.property(anyUrl, (text) => {
      const url = parseMaasUrl(text, "url");
      return parseMaasUrl(`${url}/api/2.0/`, "url") === url;
    }),
  );
});
