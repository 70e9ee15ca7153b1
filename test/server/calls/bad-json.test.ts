import { gzipSync } from "node:zlib";
import { test } from "tap";
import { assertUnharmed, json, malformed, readPath, refuses, send, watchPath } from "../harness/carriers.ts";
import { createSharedGateway } from "../harness/gateway-under-test.ts";
import { errorFromAnswer } from "../harness/raw-error.ts";
import { type RawAnswer, requestOver } from "../harness/raw-request.ts";

const sharedGateway = createSharedGateway();

test("invalid JSON is refused", async (t) => {
  const gateway = await sharedGateway();
  for (const message of ["{", "", "nope", "[1]", '"x"', "1", '{"name":"a"}}', "{\u0000}", "\ufeff{"]) {
    await refuses(t, gateway.url, json, JSON.stringify(message), { message }, malformed);
  }
  const notUtf8 = Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]);
  await refuses(t, gateway.url, json, "text for a message", { message: '{"dataSource":"s3"}' }, malformed);
  await refuses(t, gateway.url, json, "not UTF-8", { message: notUtf8 }, malformed);
  await refuses(t, gateway.url, json, "deep", { message: "[".repeat(100_000) }, malformed);
  await assertUnharmed(t, gateway);
});

test("a mutation refuses and names a field that the message does not have", async (t) => {
  const gateway = await sharedGateway();
  const unknown = { code: "INVALID_ARGUMENT", reason: "UNKNOWN_FIELD" };
  const cases = { sizeGB: 1, sizegb: 1, $x: 1, "": 1, toString: 1, __proto__x: 1 };
  for (const [field, value] of Object.entries(cases)) {
    const message = JSON.stringify({ name: "a", sizeGb: "1", [field]: value });
    await refuses(t, gateway.url, json, field, { message }, { ...unknown, fields: [field] });
  }
  const nested = '{"name":"a","sizeGb":"1","dataSource":{"s3":{"acessKeyId":"typo"}}}';
  await refuses(t, gateway.url, json, "nested", { message: nested }, { ...unknown, fields: ["acessKeyId"] });
  for (const carrier of json) {
    const list = await send(gateway.url, carrier, { path: "/proto.VGService/GetLVList", message: "{}" });
    t.notMatch(list.body.toString(), '"a"', "nothing was created");
  }
  await assertUnharmed(t, gateway);
});

test("a read accepts a field that the message does not have, and names it to a Connect caller", async (t) => {
  const gateway = await sharedGateway();
  const names = (answer: RawAnswer) => answer.headers["hostplane-unknown-fields"];
  for (const version of ["1.1", "2"] as const) {
    const headers = { "content-type": "application/json" };
    const post = {
      path: readPath,
      headers,
      body: '{"deviceclass":"x","device_class":"","ü\\n":1,"\\ud800":1}',
    };
    const named = "deviceclass, %C3%BC%0A, %EF%BF%BD";
    t.equal(names(await requestOver[version](gateway.url, post)), named);
    const get = { method: "GET", path: `${readPath}?encoding=json&message=%7B%22x%22%3A1%7D` };
    t.equal(names(await requestOver[version](gateway.url, get)), "x");
    t.equal(names(await requestOver[version](gateway.url, { ...post, body: "{}" })), undefined);
    const gzip = { ...headers, "content-encoding": "gzip" };
    const compressed = await requestOver[version](gateway.url, {
      ...post,
      headers: gzip,
      body: gzipSync(post.body),
    });
    t.equal(compressed.status, 200);
    t.equal(names(compressed), named, "gzip");
    const many = JSON.stringify(
      Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x${index}`, 1])),
    );
    t.equal(
      names(await requestOver[version](gateway.url, { ...post, body: many }))?.length,
      88,
      "20 of 1,000",
    );
    const long = JSON.stringify({ ["x".repeat(100_000)]: 1 });
    t.equal(
      names(await requestOver[version](gateway.url, { ...post, body: long }))?.length,
      64,
      "64 of 100,000",
    );
  }
  for (const carrier of json) {
    const answer = await send(gateway.url, carrier, {
      path: readPath,
      message: '{"deviceclass":"x","y":{}}',
    });
    t.equal(errorFromAnswer(answer), undefined, carrier.name);
    t.equal(names(answer), "deviceclass, y", carrier.name);
  }
  await assertUnharmed(t, gateway);
});

test("text that is not UTF-8 is refused, also in reads and compressed", async (t) => {
  const gateway = await sharedGateway();
  const message = Buffer.concat([Buffer.from('{"deviceClass":"'), Buffer.from([0xff]), Buffer.from('"}')]);
  const refusal = { ...malformed, message: /^the body is not UTF-8$/ };
  for (const path of [readPath, watchPath]) {
    const carriers = path === readPath ? json : json.filter(({ isEnveloped }) => isEnveloped);
    await refuses(t, gateway.url, carriers, path, { path, message }, refusal);
    for (const carrier of carriers) {
      const headers = { [carrier.encodingHeader]: "gzip" };
      const sent = { path, message: gzipSync(message), compressed: true, headers };
      await refuses(t, gateway.url, [carrier], `${path} gzip`, sent, refusal);
    }
  }
  await assertUnharmed(t, gateway);
});

test("a value that has the wrong type or is out of range is refused and its field named", async (t) => {
  const gateway = await sharedGateway();
  const invalid = { code: "INVALID_ARGUMENT", reason: "INVALID_FIELD" };
  const cases: readonly (readonly [string, unknown])[] = [
    ["size_gb", "x"],
    ["size_gb", -1],
    ["size_gb", 1.5],
    ["size_gb", true],
    ["size_gb", {}],
    ["size_gb", "18446744073709551616"],
    ["size_gb", 1e300],
    ["size_gb", "0"],
    ["size_gb", String(2 ** 34)],
    ["size_gb", "18446744073709551615"],
    ["name", 5],
    ["name", ["a"]],
    ["tags", "a"],
    ["tags", [1]],
    ["tags", [null]],
    ["device_class", {}],
  ];
  for (const [field, value] of cases) {
    const request = { name: "a", sizeGb: "1" };
    const camel = field.replace(/_(.)/, (_all, letter: string) => letter.toUpperCase());
    const message = JSON.stringify({ ...request, [camel]: value });
    await refuses(t, gateway.url, json, message, { message }, { ...invalid, fields: [field] });
  }
  await assertUnharmed(t, gateway);
});
