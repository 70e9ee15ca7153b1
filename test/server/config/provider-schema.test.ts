import { test } from "tap";
import { loadConfig } from "../../../server/gateway/config/load.ts";

const provider = {
  name: "corp",
  issuer: "https://login.example.org/realms/corp",
  clientId: "hostplane",
  roles: [{ group: "*", role: "viewer" }],
};

/** Returns the mistakes of a configuration with these settings of `auth`, as `key: message`. */
async function mistakesOf(auth: object): Promise<readonly string[]> {
  const env = Object.fromEntries(
    Object.entries(auth).map(([key, value]) => [
      `HOSTPLANE_AUTH_${key.replaceAll(/([a-z])([A-Z])/g, "$1_$2").toUpperCase()}`,
      typeof value === "string" ? value : JSON.stringify(value),
    ]),
  );
  const loaded = await loadConfig({ env });
  return loaded.ok ? [] : loaded.mistakes.map(({ key, message }) => `${key}: ${message}`);
}

const publicUrl = "https://gateway.example.org";

test("a provider needs a name, an issuer, a client ID, roles, and the gateway's public URL", async (t) => {
  t.same(await mistakesOf({ publicUrl, providers: [provider] }), []);
  t.match(await mistakesOf({ providers: [provider] }), [/^auth\.publicUrl: missing, expected the URL/]);
  t.match(await mistakesOf({ publicUrl, providers: [{}] }), [
    /^auth\.providers\[0\]\.name: missing/,
    /issuer: missing/,
    /clientId: missing/,
    /roles: missing/,
  ]);
});

test("each mistake in a provider is named with what was expected", async (t) => {
  const cases: readonly (readonly [change: object, mistake: RegExp])[] = [
    [{ name: "Corp" }, /providers\[0\]\.name: found .*lower-case letters/],
    [{ issuer: "http://login.example.org" }, /issuer: found .*https:\/\//],
    [{ issuer: "https://user:secret@login.example.org" }, /issuer: .*without a query and a user name/],
    [{ issuer: "nonsense" }, /issuer: found "nonsense", expected an https/],
    [{ scopes: ["profile"] }, /scopes: .*contains openid/],
    [{ parameters: ["state=x"] }, /parameters\[0\]: .*sets itself/],
    [{ parameters: ["prompt"] }, /parameters\[0\]: .*name=value/],
    [{ roles: [] }, /roles: /],
    [{ roles: [{ group: "a", role: "root" }] }, /roles\[0\]\.role: found "root"/],
    [{ roles: [{ group: "a" }] }, /roles\[0\]\.role: missing, expected either role or grants/],
    [
      { roles: [{ group: "a", role: "viewer", grants: [{ role: "viewer" }] }] },
      /grants: .*expected either role or grants/,
    ],
    [{ roles: [{ group: "a", grants: [] }] }, /roles\[0\]\.grants: /],
    [
      { roles: [{ group: "a", grants: [{ role: "viewer", resources: ["/x"] }] }] },
      /grants\[0\]\.resources\[0\]: found "\/x", expected the name of a resource/,
    ],
    [
      { roles: [{ group: "a", grants: [{ role: "admin", hosts: ["web-*"] }] }] },
      /grants\[0\]\.role: found "admin", admin of some hosts/,
    ],
    [{ clientSecret: "x" }, /clientSecret: unknown key/],
  ];
  for (const [change, mistake] of cases) {
    const mistakes = await mistakesOf({ publicUrl, providers: [{ ...provider, ...change }] });
    t.match(mistakes, [mistake], JSON.stringify(change));
    t.equal(mistakes.length, 1, JSON.stringify(change));
  }
  t.match(await mistakesOf({ publicUrl, providers: [provider, provider] }), [/unique value/]);
  t.match(await mistakesOf({ publicUrl: `${publicUrl}/path` }), [/without a path/]);
  t.match(await mistakesOf({ checkSeconds: "26" }), [/checkSeconds: .*1 to 25/]);
});

test("cleartext is accepted for this host", async (t) => {
  const local = {
    publicUrl: "http://127.0.0.1:8080",
    providers: [{ ...provider, issuer: "http://localhost:9000" }],
  };
  t.same(await mistakesOf(local), []);
});
