import type { JsonObject } from "@bufbuild/protobuf";
import { type Test, test } from "tap";
import { startAppUnderTest } from "../../harness/app-under-test.ts";
import { callerOf, createPlanUnderTest, identifiedAs } from "./plan-under-test.ts";

async function start(t: Test) {
  const { registrations } = await createPlanUnderTest();
  return startAppUnderTest(t, identifiedAs(callerOf("operator"), registrations));
}

/** Returns a refusal in Connect's JSON without its effect, because a plan is a read and has none. */
async function refusalOf(url: string, path: string, body: string) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/${path}`, { method: "POST", headers, body });
  const { code, message, details } = (await response.json()) as {
    code: string;
    message: string;
    details: { type: string; debug: JsonObject & { metadata?: JsonObject } }[];
  };
  for (const { debug } of details) {
    delete debug.metadata?.effect;
  }
  return { code, message, details: details.map(({ debug }) => debug) };
}

test("a request that the call cannot parse is refused by its plan with the same message", async (t) => {
  const { url } = await start(t);
  const bodies = [
    '{"name":"a","sizeGB":1}',
    '{"name":"a","size_gb":1,"dataSource":{"s3":{"acessKeyId":"typo"}}}',
    '{"name":"a","size_gb":"x"}',
    '{"name":"a","size_gb":-1}',
    '{"name":"a","size_gb":1.5}',
    '{"name":"a","size_gb":1e300}',
    '{"name":7}',
    '{"tags":"a"}',
    '{"tags":[null]}',
    '{"dataSource":[]}',
    '{"name":"a","size_gb":0}',
    '{"name":"-a","size_gb":1}',
    "{}",
  ];
  for (const body of bodies) {
    const planned = `{"method":"proto.LVService/CreateLV","json":${body}}`;
    const refusal = await refusalOf(url, "proto.LVService/CreateLV", body);
    t.match(refusal, { code: "invalid_argument" }, body);
    t.same(await refusalOf(url, "hostplane.v1.PlanService/Plan", planned), refusal, body);
  }
});

test("no request of a plan causes an internal error", async (t) => {
  const { url, log } = await start(t);
  const path = "hostplane.v1.PlanService/Plan";
  const invalid = { code: "invalid_argument" };
  for (const depth of [50, 95, 105, 50_000]) {
    const json = `${'{"x":'.repeat(depth)}1${"}".repeat(depth)}`;
    const planned = `{"method":"proto.LVService/CreateLV","json":${json}}`;
    t.match(await refusalOf(url, path, planned), invalid, `${depth} deep`);
  }
  for (const body of ['{"json":[]}', '{"json":"x"}', '{"json":{},"binary":""}', '{"binary":"%"}']) {
    t.match(await refusalOf(url, path, body), invalid, body);
  }

  // Values of a Struct on the wire that JSON does not have: NaN, and an empty Value.
  for (const value of [[0x11, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f], []]) {
    const entry = [0x0a, 1, 0x78, 0x12, value.length, ...value];
    const struct = [0x0a, entry.length, ...entry];
    const method = Buffer.from("proto.LVService/CreateLV");
    const body = Buffer.from([0x0a, method.length, ...method, 0x12, struct.length, ...struct]);
    const headers = { "content-type": "application/proto" };
    const response = await fetch(`${url}/${path}`, { method: "POST", headers, body });
    t.match(await response.json(), invalid, `the value ${value.join(" ")}`);
  }
  t.same(
    log.filter(({ level }) => Number(level) >= 40),
    [],
    "no internal errors",
  );
});
