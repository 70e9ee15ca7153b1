import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "tap";
import { authorizationHeader } from "../../../../adapters/maas/authorization.ts";
import { startMaasFake } from "../../../../adapters/maas/fake/server.ts";

const apiKey = { consumer: "consumer", token: "token", secret: "secret" };
const { answers } = JSON.parse(
  await readFile(join(import.meta.dirname, "../samples/answers-3.4.10.json"), "utf8"),
);

/** Known differences between the recorded region and one that commissioned its machines itself. */
const differing = [/^[^:]*\.tags: /];
/** Fields that an installed machine has and this one does not, or the other way round. */
const mayBeEmpty =
  /\.(dns_servers|disabled_boot_architectures|partitions|numanode_set|hwe_kernel|events|tags)\b/;

/**
 * Keys of interfaces. When empty, they are null or [] in one region and "" or {} in another, so their values are
 * checked separately.
 */
const interfaceKeys: readonly string[] = ["discovered", "params"];

/** Returns all values of a key, at any depth. */
function valuesOf(value: unknown, key: string): readonly unknown[] {
  if (typeof value !== "object" || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([name, each]) => (name === key ? [each] : valuesOf(each, key)));
}

/** Returns the paths of a value's leaves with their types; the first element of a list represents all. */
function shapeOf(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value)) {
    return value.length === 0 ? [] : shapeOf(value[0], `${path}[0]`);
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    const isFree = /annotations$|owner_data$/.test(path);
    return isFree
      ? [`${path}: object`]
      : entries.flatMap(([key, each]) =>
          interfaceKeys.includes(key) ? [`${path}.${key}: there`] : shapeOf(each, `${path}.${key}`),
        );
  }
  return [`${path}: ${value === null ? "null" : typeof value}`];
}

test("the fake's replies have the keys and types of a real region's", async (t) => {
  const fake = await startMaasFake({
    users: [{ username: "admin", isAdmin: true, apiKey }],
    machines: [
      { systemId: "m6rnsc", hostname: "node2", tags: ["standard"], pool: "kube", powerType: "manual" },
    ],
    images: [{ name: "ubuntu/jammy", type: "Synced" }],
    tags: ["gpu", "standard"],
    pools: ["default", "kube"],
    zones: ["default"],
    ...{ deployMs: Number.POSITIVE_INFINITY, releaseMs: 0, eraseMs: 0 },
  });
  t.teardown(() => fake.close());
  async function query(path: string, form?: Readonly<Record<string, string>>): Promise<unknown> {
    const timestampSeconds = Math.floor(Date.now() / 1000);
    const authorization = authorizationHeader(apiKey, { nonce: Math.random().toString(), timestampSeconds });
    const body = form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) };
    return (await fetch(`${fake.url}/api/2.0/${path}`, { headers: { authorization }, ...body })).json();
  }
  const reported: Record<string, unknown> = {
    version: await query("version/"),
    whoami: await query("users/?op=whoami"),
    pools: await query("resourcepools/"),
    zones: await query("zones/"),
    tags: await query("tags/"),
    images: await query("boot-resources/"),
    allocated: await query("machines/?op=allocate", { system_id: "m6rnsc" }),
  };
  await query("machines/m6rnsc/?op=deploy", { distro_series: "jammy" });
  reported.deploying = await query("machines/m6rnsc/");
  t.equal(await query("machines/m6rnsc/?op=power_off", {}), null, "MAAS cannot switch it");
  reported.free = await query("machines/m6rnsc/?op=release", {});
  reported.reservation = await query("ipaddresses/?op=reserve", { subnet: "10.20.0.0/24" });
  reported.events = await query("events/?op=query&id=m6rnsc&limit=3&level=INFO");
  for (const [name, recorded] of Object.entries<unknown>(answers)) {
    const kept = (shape: readonly string[]) =>
      shape.filter((leaf) => !differing.some((pattern) => pattern.test(leaf)) && !mayBeEmpty.test(leaf));
    const types = new Map(
      kept(shapeOf(reported[name], name)).map((leaf) => leaf.split(": ") as [string, string]),
    );
    const expected = new Map(
      kept(shapeOf(recorded, name)).map((leaf) => leaf.split(": ") as [string, string]),
    );
    t.same([...types.keys()].toSorted(), [...expected.keys()].toSorted(), `${name}: its keys`);
    const others = [...expected].filter(([path, type]) => {
      const own = types.get(path);
      return own !== type && own !== "null" && type !== "null";
    });
    t.same(others, [], `${name}: types`);
  }
  // A region that commissions machines itself has {} where the recorded one has "".
  const params = valuesOf(reported, "params");
  const discovered = valuesOf(reported, "discovered");
  t.ok(params.length > 0 && discovered.length === params.length);
  t.same(
    params,
    params.map(() => ({})),
  );
  t.ok(discovered.every((each) => each === null || (Array.isArray(each) && each.length === 0)));
  t.same((reported.version as { capabilities: unknown }).capabilities, answers.version.capabilities);
  t.match(reported.events, { count: 3, next_uri: /^.*\?op=query&id=m6rnsc&limit=3&level=INFO&after=\d+$/ });
  t.match(await query("events/?op=query&id=zzzzzz"), { count: 0, prev_uri: null });
});
