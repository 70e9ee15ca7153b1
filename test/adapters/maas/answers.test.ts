import { inspect } from "node:util";
import { test } from "tap";
import { errorOf, startSandbox, startServer } from "./maas-under-test.ts";

test("reports a clock that differs from MAAS's", async (t) => {
  const sandbox = await startSandbox(t);
  sandbox.fake.setClockOffset(412_000);
  t.match(await errorOf(sandbox.whoami()), {
    reason: "MAAS_DENIED",
    message: /clock here is 41\d s behind its own/,
  });
  sandbox.fake.setClockOffset(200_000);
  t.equal((await sandbox.whoami()).username, "sandbox");
});

test("replies of other servers do not make machines disappear", async (t) => {
  const page = "<h1>Not Found</h1> hidden-secret";
  const answers = [
    { status: 404, type: "text/html", body: page },
    { status: 404, type: "text/plain", body: "404 page not found" },
    { status: 404, type: "text/plain", body: "Unknown API endpoint: /MAAS/api/2.0/machines/." },
    { status: 302, type: "text/html", body: page },
    { status: 410, type: "text/plain", body: page },
    { status: 500, type: "text/html", body: page },
    { status: 200, type: "text/html", body: page },
    { status: 200, type: "application/json", body: "[]" },
    { status: 200, type: "application/json", body: '{"system_id":"aaaaaa","hostname":"other","status":4}' },
    { status: 204, type: "text/plain", body: "" },
  ];
  let index = 0;
  const { maas } = await startServer(t, (_, response) => {
    const { status, type, body } = answers[index] ?? { status: 500, type: "", body: "" };
    response.writeHead(status, { "content-type": type, location: "https://elsewhere.invalid/" }).end(body);
  });
  for (const { status, body } of answers) {
    const error = await errorOf(maas.machine("bbbbbb"));
    t.equal(error.reason, "MAAS_FAILED", `${status} ${body}`);
    t.notMatch(inspect(error, { depth: 10 }), /hidden-secret|Not Found<|elsewhere/);
    index += 1;
  }
});

test("reads the machine when MAAS returns null for it", async (t) => {
  const sandbox = await startSandbox(t);
  const { systemId } = await sandbox.choose({});
  const json = { status: 200, text: "null", headers: { "content-type": "application/json" } };
  sandbox.fake.inject({ op: "deploy" }, { kind: "answer", answer: json });
  t.match(await sandbox.deploy(systemId, { series: "noble" }), { systemId, status: "ready" });
});

test("a filter lost on the way does not make other users' machines ours", async (t) => {
  const sandbox = await startSandbox(t);
  const { systemId } = await sandbox.other.choose({});
  await sandbox.other.allocate({ systemId, agentName: "theirs" });
  const all = {
    status: 200,
    json: await allMachines(sandbox.fake.url, sandbox.fake.requests.at(-1)?.authorization),
  };
  t.equal((all.json as unknown[]).length, 8);
  sandbox.fake.inject({ path: "machines/" }, { kind: "answer", answer: all, times: 2 });
  t.same(await sandbox.machines({ owner: "sandbox" }), []);
  t.equal((await sandbox.machines({ systemIds: [systemId] })).length, 1);
});

async function allMachines(url: string, authorization = ""): Promise<unknown> {
  const headers = { authorization: authorization.replace(/(oauth_nonce=")[^"]*/, "$1once-more") };
  return (await fetch(`${url}/api/2.0/machines/`, { headers })).json();
}
