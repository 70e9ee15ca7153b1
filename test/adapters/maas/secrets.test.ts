import { inspect } from "node:util";
import { test } from "tap";
import { type ToolObservation, toolChannel } from "../../../adapters/host/observation.ts";
import { createMaas } from "../../../adapters/maas/maas.ts";
import { errorOf, startSandbox, startServer } from "./maas-under-test.ts";

test("MAAS's message about a wrong key, which includes the secret, is in no error", async (t) => {
  const sandbox = await startSandbox(t);
  const [request] = [...sandbox.fake.requests, await sandbox.whoami().then(() => sandbox.fake.requests[0])];
  const part = (name: string) =>
    decodeURIComponent(new RegExp(`${name}="([^"]*)"`).exec(request?.authorization ?? "")?.[1] ?? "");
  const rightSecret = part("oauth_signature").slice(1);
  const wrongKey = { consumer: part("oauth_consumer_key"), token: part("oauth_token"), secret: "wrong" };
  const body = await (
    await fetch(`${sandbox.fake.url}/api/2.0/users/?op=whoami`, {
      headers: {
        authorization:
          request?.authorization
            ?.replace(/(oauth_signature=")[^"]*/, "$1%26wrong")
            .replace(/(oauth_nonce=")[^"]*/, "$1another") ?? "",
      },
    })
  ).text();
  t.ok(body.includes(rightSecret), "the fake leaks as the real one does");
  const maas = createMaas({ url: sandbox.fake.url, apiKey: wrongKey });
  t.teardown(() => maas.close());
  const error = await errorOf(maas.whoami());
  t.match(error, { reason: "MAAS_DENIED", code: "INTERNAL", retryable: false, message: /API key/ });
  const all = inspect(error, { depth: 10, showHidden: true });
  for (const secret of [rightSecret, "wrong", "Expected signature"]) {
    t.notOk(all.includes(secret), `nothing of ${secret === rightSecret ? "the secret" : secret}`);
  }
  t.match((await maas.inspect()).findings, [{ ok: false, fix: /maas apikey/ }]);
});

test("a reply other than HTTP is in no error either", async (t) => {
  const { maas } = await startServer(t, ({ socket }) => {
    socket.end(
      "HTTP/1.1 401 Unauthorized\r\nbad header\0: Expected signature base string: &hidden-secret\r\n\r\n",
    );
  });
  const error = await errorOf(maas.deploy("bbbbbb", { series: "noble" }));
  t.equal(error.reason, "MAAS_UNAVAILABLE");
  t.notMatch(inspect(error, { depth: 10, showHidden: true }), /hidden-secret/);
});

test("the content of a request is in no error and no observation", async (t) => {
  const userData = "#cloud-config\nhidden-secret: of a cluster\n";
  const encoded = Buffer.from(userData).toString("base64");
  const answers = [
    {
      status: 400,
      type: "application/json",
      body: JSON.stringify({ user_data: [encoded], hwe_kernel: ["No such."] }),
    },
    { status: 400, type: "text/html", body: `<pre>${encoded}</pre>` },
    { status: 400, type: "text/plain", body: `Failed to render preseed: ${encoded}` },
    { status: 500, type: "text/plain", body: encoded },
    { status: 503, type: "text/html", body: encoded },
  ];
  let index = 0;
  const { maas } = await startServer(t, (request, response) => {
    request.resume();
    const { status, type, body } = answers[index] ?? { status: 500, type: "", body: "" };
    response.writeHead(status, { "content-type": type }).end(body);
  });
  const observed: ToolObservation[] = [];
  const subscriber = {
    start: (observation: object) => observed.push(observation as ToolObservation),
    end() {},
    asyncStart() {},
    asyncEnd() {},
    error() {},
  };
  toolChannel.subscribe(subscriber);
  t.teardown(() => toolChannel.unsubscribe(subscriber));
  const reasons = ["MAAS_REFUSED", "MAAS_REFUSED", "MAAS_REFUSED", "MAAS_FAILED", "MAAS_UNAVAILABLE"];
  for (const reason of reasons) {
    const error = await errorOf(maas.deploy("bbbbbb", { series: "noble", userData, comment: "why" }));
    t.equal(error.reason, reason);
    t.notOk(inspect(error, { depth: 10 }).includes(encoded));
    index += 1;
  }
  t.equal(observed.length, reasons.length);
  t.match(observed[0], {
    program: "maas",
    subcommand: "deploy",
    argv: ["POST", "machines/bbbbbb/?op=deploy", "distro_series=noble", "comment=why"],
    outcome: { exitCode: 1, failure: "MAAS_REFUSED" },
  });
  t.notOk(inspect(observed, { depth: 10 }).includes(encoded));
});

test("the message of a refusal names the field", async (t) => {
  const { maas } = await startServer(t, (_, response) => {
    response.writeHead(400, { "content-type": "application/json; charset=utf-8" });
    response.end(JSON.stringify({ tags: ["No such tag(s): 'x'."], user_data: ["secret"], odd: 7 }));
  });
  const { message } = await errorOf(maas.choose({}));
  t.match(message, "tags: No such tag(s): 'x'.; user_data: not accepted; odd: not accepted");
});
