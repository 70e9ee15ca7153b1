import { randomUUID } from "node:crypto";
import { type Test, test } from "tap";
import { authorizationHeader } from "../../../../adapters/maas/authorization.ts";
import { type MaasFakeOptions, startMaasFake } from "../../../../adapters/maas/fake/server.ts";

// Replies of a real MAAS 3.4.10, recorded by a client other than the gateway's.

const apiKey = { consumer: "consumer", token: "token", secret: "secret" };
const otherKey = { consumer: "consumer-2", token: "token-2", secret: "secret-2" };

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly form?: readonly (readonly [string, string])[];
  readonly encoding?: "urlencoded" | "multipart" | "json";
  readonly authorization?: string | null;
}

function signed(nonce: string = randomUUID(), ageSeconds = 0, key = apiKey): string {
  const timestampSeconds = Math.floor(Date.now() / 1000) - ageSeconds;
  return authorizationHeader(key, { nonce, timestampSeconds });
}

async function startFake(t: Test) {
  return (await startRegion(t)).send;
}

async function startRegion(t: Test, options: Partial<MaasFakeOptions> = {}) {
  const fake = await startMaasFake({
    users: [
      { username: "me", isAdmin: false, apiKey },
      { username: "root", isAdmin: true, apiKey: otherKey },
    ],
    machines: ["abcdef", "bcdefg", "cdefgh"].map((systemId, index) => {
      const tags = index === 2 ? ["gpu", "standard"] : ["standard"];
      return { systemId, hostname: `sandbox-${index}`, tags, pool: "kube" };
    }),
    images: [{ name: "ubuntu/jammy", type: "Synced" }],
    tags: ["gpu", "standard"],
    pools: ["default", "kube"],
    zones: ["default"],
    deployMs: Number.POSITIVE_INFINITY,
    releaseMs: 0,
    eraseMs: 0,
    ...options,
  });
  t.teardown(() => fake.close());
  const send = async ({ method = "GET", path, form = [], encoding = "urlencoded", authorization }: Sent) => {
    const headers = new Headers(authorization === null ? {} : { authorization: authorization ?? signed() });
    const fields = new FormData();
    for (const [key, value] of form) {
      fields.append(key, value);
    }
    if (encoding === "json") {
      headers.set("content-type", "application/json");
    }
    const body = {
      urlencoded: new URLSearchParams(form.map(([key, value]): [string, string] => [key, value])),
      multipart: fields,
      json: JSON.stringify(Object.fromEntries(form)),
    }[encoding];
    const response = await fetch(`${fake.url}/api/2.0/${path}`, {
      method,
      headers,
      redirect: "manual",
      ...(method === "POST" && { body }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { send, fake };
}

test("refuses unauthenticated requests as the real one does", async (t) => {
  const send = await startFake(t);
  const path = "users/?op=whoami";
  const again = randomUUID();
  t.equal((await send({ path, authorization: signed(again) })).status, 200);
  const table: readonly (readonly [string | null, RegExp])[] = [
    [null, /^Forbidden$/],
    ["Basic abc", /^Forbidden$/],
    ["OAuth nonsense", /^Forbidden$/],
    [signed(again), /^Authorization Error: 'Nonce already used: /],
    [
      signed(randomUUID(), 400),
      /^Authorization Error: 'Expired timestamp: given \d+ and now \d+ has a greater/,
    ],
    [signed().replace('"consumer"', '"zz"'), /^Authorization Error: Invalid API key\.$/],
    [signed().replace('"token"', '"zz"'), /^Authorization Error: 'Invalid access token: zz'$/],
    [
      signed().replace("%26secret", "%26wrong"),
      /^Authorization Error: 'Invalid signature. Expected signature base string: &secret'$/,
    ],
  ];
  for (const [authorization, words] of table) {
    const { status, text } = await send({ path, authorization });
    t.equal(status, 401);
    t.match(text, words);
  }
  const future = await send({ path, authorization: signed(randomUUID(), -4000) });
  t.equal(future.status, 200, "a time in the future is accepted");
  const machines = await send({ path: "machines/", authorization: null });
  t.match(machines, { status: 400, text: "Unrecognised signature: method=GET op=None" });
  t.equal((await send({ path: "version/", authorization: null })).status, 200);
});

test("a path without its trailing slash does not exist", async (t) => {
  const send = await startFake(t);
  t.match(await send({ path: "machines" }), {
    status: 404,
    text: "Unknown API endpoint: /MAAS/api/2.0/machines.",
  });
  t.match(await send({ path: "machines/zzzzzz/" }), {
    status: 404,
    text: "No Machine matches the given query.",
  });
  t.equal((await send({ path: "nothing/" })).status, 404);
});

test("details that clients may read match the real one", async (t) => {
  const { send } = await startRegion(t, {
    machines: [{ systemId: "abcdef", hostname: "sandbox", tags: ["standard", "gpu"] }],
    images: [
      { name: "ubuntu/jammy", type: "Synced" },
      { name: "k8s-1.36.3", type: "Uploaded" },
    ],
  });
  const missing = await send({ path: "machines/zzzzzz/" });
  t.equal(missing.headers.get("content-type"), "text/plain", "without a charset");
  const unknown = await send({ path: "users/?op=whoami", authorization: null });
  t.equal(unknown.status, 401);
  t.equal(unknown.headers.get("content-type"), "text/plain", "without a charset");
  const images = JSON.parse((await send({ path: "boot-resources/" })).text);
  t.match(images, [{ type: "Synced" }, { type: "Uploaded", title: "k8s-1.36.3" }]);
  t.notOk(Object.hasOwn(images[0], "title"));
  const machine = JSON.parse((await send({ path: "machines/abcdef/" })).text);
  t.same(machine.tag_names, ["gpu", "standard"], "in the order of the region's tags");
});

test("accepts a form in two encodings, but no JSON", async (t) => {
  const send = await startFake(t);
  const allocate = { method: "POST", path: "machines/?op=allocate" };
  for (const encoding of ["urlencoded", "multipart"] as const) {
    const form = [
      ["tags", "standard"],
      ["tags", "gpu"],
      ["dry_run", "true"],
    ] as const;
    const { status, text } = await send({ ...allocate, form, encoding });
    t.equal(status, 200);
    t.match(JSON.parse(text), { system_id: "cdefgh", owner: null, constraints_by_type: {} });
  }
  const json = await send({ ...allocate, form: [["tags", "gpu"]], encoding: "json" });
  t.match(json, { status: 500, text: "'dict' object has no attribute 'lists'" });
});

test("refuses an allocation with the real one's messages", async (t) => {
  const send = await startFake(t);
  const table: readonly (readonly [readonly (readonly [string, string])[], number, string])[] = [
    [[["tags", "nope"]], 400, `{"tags":["No such tag(s): 'nope'."]}`],
    [[["pool", "nopool"]], 400, `{"pool":["No such pool(s): nopool."]}`],
    [[["zone", "nozone"]], 400, `{"zone":["No such zone(s): nozone."]}`],
    [[["arch", "arm64"]], 400, `{"arch":["Architecture not recognised."]}`],
    [[["cpu_count", "abc"]], 400, `{"cpu_count":["Invalid CPU count: number required."]}`],
    [[["fruit", "x"]], 400, `{"fruit":["No such constraint."]}`],
    [
      [["mem", "999999"]],
      409,
      `No available machine matches constraints: [('mem', ['999999'])] (resolved to "mem=999999.0")`,
    ],
    [
      [
        ["tags", "standard"],
        ["tags", "gpu"],
        ["mem", "999999"],
      ],
      409,
      `No available machine matches constraints: [('tags', ['standard', 'gpu']), ('mem', ['999999'])] (resolved to "mem=999999.0 tags=gpu,standard")`,
    ],
    [[["system_id", "zzzzzz"]], 409, "No machine with system ID zzzzzz available."],
  ];
  for (const [form, status, text] of table) {
    t.match(await send({ method: "POST", path: "machines/?op=allocate", form }), { status, text });
  }
  for (const _ of "abc") {
    t.equal((await send({ method: "POST", path: "machines/?op=allocate" })).status, 200);
  }
  const none = await send({ method: "POST", path: "machines/?op=allocate" });
  t.match(none, { status: 409, text: "No machine available." });
});

test("the operations of a machine reply like the real ones", async (t) => {
  const send = await startFake(t);
  const op = (name: string, form: Sent["form"] = []) =>
    send({ method: "POST", path: `machines/abcdef/?op=${name}`, form });
  const expect = async (name: string, status: number, text?: string, form?: Sent["form"]) => {
    const answer = await op(name, form);
    t.equal(answer.status, status, `${name}: ${answer.text.slice(0, 100)}`);
    if (text !== undefined) {
      t.equal(answer.text, text);
    }
  };
  const series = [["distro_series", "jammy"]] as const;
  await expect("set_workload_annotations", 409, "Cannot set workload annotation: it hasn't been acquired.", [
    ["a", "1"],
  ]);
  await send({ method: "POST", path: "machines/?op=allocate", form: [["system_id", "abcdef"]] });
  await expect("set_workload_annotations", 500, "Invalid character in key name", [["bad key/x:y", "1"]]);
  await expect("set_owner_data", 200, undefined, [["a", "1"]]);
  await expect(
    "deploy",
    400,
    `{"distro_series":["'windoze' is not a valid distro_series.  It should be one of: '', 'ubuntu/jammy'."]}`,
    [["distro_series", "windoze"]],
  );
  await expect("nonsense", 400, "Unrecognised signature: method=POST op=nonsense");
  await expect("lock", 409, "Can't lock, node is not deployed or deploying");
  const deployed = JSON.parse((await op("deploy", series)).text);
  t.match(deployed, { status: 9, status_name: "Deploying", ip_addresses: [], owner_data: { a: "1" } });
  t.notOk("agent_name" in deployed);
  const read = JSON.parse((await send({ path: "machines/abcdef/" })).text);
  t.match(read, { ip_addresses: ["10.20.0.2"], interface_set: [{ links: [{ ip_address: "10.20.0.2" }] }] });
  t.equal(Object.keys(read).length, 78, "as many fields as 3.4.10 returns");
  await expect("deploy", 409, "Can't deploy a machine that is in the 'Deploying' state", series);
  t.match(JSON.parse((await send({ path: "machines/?op=list_allocated" })).text), []);
  await expect("lock", 200);
  await expect("lock", 409, "Machine is already locked");
  for (const locked of ["release", "power_off", "set_workload_annotations", "abort", "mark_broken"]) {
    await expect(locked, 403, "");
  }
  await expect("unlock", 200);
  await expect("unlock", 409, "Machine is not locked");
  const power = await send({ path: "machines/abcdef/?op=query_power_state" });
  t.match(power, { status: 503, text: "No rack controllers can access the BMC of node sandbox-0" });
  t.match(JSON.parse((await op("abort")).text), { status: 9, status_message: "Aborted deployment" });
  t.match(JSON.parse((await send({ path: "machines/abcdef/" })).text), { status: 10, owner: "me" });
  await expect("mark_broken", 200);
  await expect("mark_fixed", 403, "");
  t.equal((await send({ method: "DELETE", path: "machines/abcdef/" })).status, 403);
});

test("several machines are released at once, or none if one is unknown", async (t) => {
  const send = await startFake(t);
  const release = (...ids: string[]) =>
    send({
      method: "POST",
      path: "machines/?op=release",
      form: ids.map((id): [string, string] => ["machines", id]),
    });
  await send({ method: "POST", path: "machines/?op=allocate", form: [["system_id", "abcdef"]] });
  t.match(await release("abcdef", "zzzzzz"), { status: 400, text: "Unknown machine(s): zzzzzz." });
  t.match(JSON.parse((await send({ path: "machines/abcdef/" })).text), { status: 10 });
  t.match(await release("abcdef", "bcdefg"), { status: 200, text: '["abcdef","bcdefg"]' });
});

test("filters are as strict as the real one's", async (t) => {
  const send = await startFake(t);
  const bogus = "is not one of the available choices.";
  t.match(await send({ path: "machines/?status=bogus" }), {
    status: 400,
    text: `{"status":["Select a valid choice. bogus ${bogus}"]}`,
  });
  t.equal((await send({ path: "machines/?owner=nobody" })).status, 400);
  t.match(JSON.parse((await send({ path: "machines/?id=zzzzzz" })).text), []);
  t.match(JSON.parse((await send({ path: "machines/?hostname=sandbox-1" })).text), [{ system_id: "bcdefg" }]);
  t.equal(JSON.parse((await send({ path: "machines/?status=ready&pool=kube" })).text).length, 3);
});

test("another user's machine is visible only to administrators", async (t) => {
  const { send, fake } = await startRegion(t);
  fake.region.change("abcdef", { kind: "allocate", owner: "root", agentName: "theirs" });
  for (const path of ["machines/abcdef/", "machines/abcdef/?op=query_power_state"]) {
    t.match(await send({ path }), { status: 403, text: "" }, path);
  }
  for (const op of ["release", "lock", "mark_broken", "set_workload_annotations", "deploy"]) {
    t.match(await send({ method: "POST", path: `machines/abcdef/?op=${op}` }), { status: 403, text: "" }, op);
  }
  for (const query of ["", "?id=abcdef", "?agent_name=theirs", "?owner=root"]) {
    const listed = JSON.parse((await send({ path: `machines/${query}` })).text);
    t.notOk(
      listed.some((machine: { system_id: string }) => machine.system_id === "abcdef"),
      `machines/${query}`,
    );
  }
  t.match(JSON.parse((await send({ path: "events/?op=query&id=abcdef" })).text), { count: 0, events: [] });
  const byAdmin = await send({ path: "machines/abcdef/", authorization: signed(randomUUID(), 0, otherKey) });
  t.match(JSON.parse(byAdmin.text), { owner: "root" });
  const broken = await send({ method: "POST", path: "machines/bcdefg/?op=mark_broken" });
  t.match(broken, { status: 403, text: "" }, "users cannot mark machines of others");
});

test("refuses filters with unknown names, long agent names and invalid addresses", async (t) => {
  const send = await startFake(t);
  const long = "a".repeat(300);
  const table = [
    ["machines/?pool=nopool", `{"pool":["No such pool(s): nopool."]}`],
    ["machines/?zone=nozone", `{"zone":["No such zone(s): nozone."]}`],
    ["machines/?tags=nope", `{"tags":["No such tag(s): 'nope'."]}`],
    ["machines/?fruit=x", `{"fruit":["No such constraint."]}`],
    [`machines/?agent_name=${long}`, /agent_name.*at most 255 characters \(it has 300\)/],
  ] as const;
  for (const [path, text] of table) {
    t.match(await send({ path }), { status: 400, text }, path);
  }
  const allocate = { method: "POST", path: "machines/?op=allocate" };
  t.match(await send({ ...allocate, form: [["agent_name", long]] }), { status: 400, text: /it has 300/ });
  for (const constraint of [
    ["pool", "default"],
    ["tags", "gpu"],
  ] as const) {
    t.match(
      await send({ ...allocate, form: [["system_id", "abcdef"], constraint] }),
      { status: 409, text: "No machine with system ID abcdef available." },
      "the reply does not say that the machine differs from the requested one",
    );
  }
  const reserve = (ip: string) =>
    send({ method: "POST", path: "ipaddresses/?op=reserve", form: [["ip", ip]] });
  t.match(await reserve("bogus"), { status: 400, text: /^\{"ip_address":/ });
  t.equal((await reserve("10.20.0.255")).status, 200);
  t.match(await send({ method: "POST", path: "machines/" }), {
    status: 400,
    text: /^\{"architecture":.*"mac_addresses":/,
  });
  const created = await send({
    method: "POST",
    path: "machines/",
    form: [
      ["architecture", "amd64/generic"],
      ["mac_addresses", "02:00:00:00:00:01"],
    ],
  });
  t.match(JSON.parse(created.text), { status: 0, status_message: null, status_action: null });
});

test("reports address ranges, and refuses to reserve addresses in them", async (t) => {
  const ranges = [
    { type: "dynamic", first: 240, last: 254 },
    { type: "reserved", first: 200, last: 210 },
  ] as const;
  for (const isManaged of [true, false]) {
    const { send } = await startRegion(t, { ranges, isManaged });
    t.match(JSON.parse((await send({ path: "ipranges/" })).text), [
      { type: "dynamic", start_ip: "10.20.0.240", end_ip: "10.20.0.254" },
      { type: "reserved", start_ip: "10.20.0.200", end_ip: "10.20.0.210", subnet: { managed: isManaged } },
    ]);
    t.match(JSON.parse((await send({ path: "spaces/" })).text), [{ subnets: [{ managed: isManaged }] }]);
    const reserve = (ip: string) =>
      send({ method: "POST", path: "ipaddresses/?op=reserve", form: [["ip", ip]] });
    t.match(await reserve("10.20.0.240"), { status: 403, text: /dynamic range/ });
    t.match(await reserve("10.20.0.205"), {
      status: 404,
      text: "10.20.0.205 is within the reserved range from 10.20.0.200 to 10.20.0.210",
    });
    t.equal((await reserve("10.20.0.199")).status, 200);
    const given = await send({
      method: "POST",
      path: "ipaddresses/?op=reserve",
      form: [["subnet", "10.20.0.0/24"]],
    });
    t.match(JSON.parse(given.text), { ip: isManaged ? "10.20.0.211" : "10.20.0.200" });
  }
});
