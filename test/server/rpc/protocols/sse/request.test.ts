import { toJson } from "@bufbuild/protobuf";
import { type Test, test } from "tap";
import { EventService, type SubscribeRequest } from "../../../../../gen/hostplane/v1/event_pb.ts";
import { OperationsService } from "../../../../../gen/operations/v1/operations_pb.ts";
import { infraErrorFrom } from "../../../../../server/rpc/errors/connect-error.ts";
import { readEventRequest } from "../../../../../server/rpc/protocols/sse/request.ts";

const { subscribe } = EventService.method;
const path = "/hostplane.v1.EventService/Subscribe";

async function readGet(query: string, lastEventId?: string) {
  const { message, unknownFields } = await readEventRequest(
    subscribe,
    {
      httpMethod: "GET",
      url: `${path}${query}`,
      contentType: undefined,
      lastEventId,
      readBody: () => Promise.reject(new TypeError("GET has no body")),
    },
    false,
  );
  return { request: toJson(subscribe.input, message as SubscribeRequest), unknownFields };
}

async function refuses(t: Test, read: Promise<unknown>, expected: object) {
  try {
    await read;
    t.fail("it was read");
  } catch (thrown) {
    t.match(infraErrorFrom(thrown), expected);
  }
}

test("parameters of the query are fields", async (t) => {
  t.same(await readGet("?topics=volumes&topics=pods&time=2026-01-02T03:04:05Z"), {
    request: { topics: ["volumes", "pods"], time: "2026-01-02T03:04:05Z" },
    unknownFields: [],
  });
  t.same(await readGet(""), { request: {}, unknownFields: [] });
  t.same(await readGet("?topic=volumes"), { request: {}, unknownFields: ["topic"] });
  await refuses(t, readGet("?cursor=a&cursor=b"), { reason: "INVALID_FIELD" });
  await refuses(t, readGet("?cursor=%ff"), { reason: "MALFORMED_REQUEST" });
  await refuses(t, readGet(`?cursor=${"x".repeat(9000)}`), { reason: "MESSAGE_TOO_LARGE" });
});

test("one parameter may contain the message, as in Connect GET", async (t) => {
  const message = encodeURIComponent('{"topics": ["volumes"], "x?y": 1}');
  t.same(await readGet(`?connect=v1&encoding=json&message=${message}`), {
    request: { topics: ["volumes"] },
    unknownFields: ["x?y"],
  });
  for (const wrong of [
    `message=${message}`,
    `encoding=proto&message=${message}`,
    `encoding=json&base64=1&message=${message}`,
    `encoding=json&compression=gzip&message=${message}`,
    "encoding=json&message=%7B",
  ]) {
    await refuses(t, readGet(`?${wrong}`), { reason: "MALFORMED_REQUEST" });
  }
  const long = `?encoding=json&message=${"x".repeat(9000)}`;
  await refuses(t, readGet(long), { reason: "MESSAGE_TOO_LARGE" });
});

test("Last-Event-ID overrides the start position in the URL", async (t) => {
  for (const query of ["", "?cursor=old", "?time=2026-01-02T03:04:05Z", "?encoding=json&message=%7B%7D"]) {
    t.same((await readGet(query, "new")).request, { cursor: "new" }, query);
  }
  t.same((await readGet("?cursor=old", "")).request, { cursor: "old" }, "an empty one is ignored");
});

const { createHypervisor } = OperationsService.method;

function readPost(body: string, query = "", lastEventId?: string) {
  const request = {
    httpMethod: "POST",
    url: `/operations.v1.OperationsService/CreateHypervisor${query}`,
    contentType: "application/json",
    lastEventId,
    readBody: async () => Buffer.from(body),
  };
  return readEventRequest(createHypervisor, request, true);
}

test("a body is the message in JSON, and a change refuses unknown fields", async (t) => {
  t.match(await readPost('{"id": "a"}'), { message: { id: "a" }, unknownFields: [] });
  t.match(await readPost('{"id": "a"}', "", "7"), { message: { id: "a" } }, "it has no cursor to set");
  await refuses(t, readPost('{"id": "a", "idd": "b"}'), { reason: "UNKNOWN_FIELD" });
  await refuses(t, readPost('{"id": "a"}', "?id=b"), { reason: "UNKNOWN_FIELD" });
  await refuses(t, readPost('{"id": 7}'), { reason: "INVALID_FIELD" });
  await refuses(t, readPost("[]"), { reason: "MALFORMED_REQUEST" });
});
