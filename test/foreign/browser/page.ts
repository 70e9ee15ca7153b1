import type { Interceptor } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import * as connectWeb1 from "connect-web-1";
import type { BrowserClient } from "./browser-client.ts";
import { createClientSteps, failureOf, type Step } from "./client-steps.ts";
import { createConnect1Client } from "./connect-1-client.ts";
import { createConnect2Client } from "./connect-2-client.ts";
import { createEventSourceClient } from "./event-source-client.ts";
import { createEventSourceSteps } from "./event-source-steps.ts";
import { connectEnvelopes, createFetchClient, serverSentEvents } from "./fetch-client.ts";
import { createFetchSteps } from "./fetch-steps.ts";
import { createGoogleClient } from "./google-client.ts";

// The page's script. Its query has the base URLs of gateways: `login` requires a login, `tls` does so over TLS, `open` does not,
// `relay` forwards to `open`, and `closed` does not list the page's origin. The script posts the results of each client to
// /results of the page's own server.

const query = new URL(import.meta.url).searchParams;
const parameter = (name: string) => query.get(name) ?? "";
const token = parameter("token");
const [login, tls, open, closed] = ["login", "tls", "open", "closed"].map(parameter) as [
  string,
  string,
  string,
  string,
];

const fetched: string[] = [];
/** The browser's fetch, which also records the HTTP method. */
const recordingFetch: typeof fetch = (input, init) => {
  fetched.push(init?.method ?? "GET");
  return fetch(input, init);
};
const withToken: Interceptor = (next) => (request) => {
  request.header.set("authorization", `Bearer ${token}`);
  return next(request);
};

function transportOptions(baseUrl: string) {
  return { baseUrl, fetch: recordingFetch, interceptors: [withToken] };
}

const connect = (baseUrl: string) => createConnect2Client(createConnectTransport(transportOptions(baseUrl)));
const connectGet = (baseUrl: string) =>
  createConnect2Client(createConnectTransport({ ...transportOptions(baseUrl), useHttpGet: true }));
const grpcWeb = (baseUrl: string) => createConnect2Client(createGrpcWebTransport(transportOptions(baseUrl)));
const byEvents = createFetchClient(login, token, serverSentEvents);
const byEnvelopes = createFetchClient(login, token, connectEnvelopes);
const google = (baseUrl: string, format: "binary" | "text") => createGoogleClient(baseUrl, format, token);

/** Clients that send a token, by the names of their rows in docs/reference/protocols.md. */
const clients: Readonly<Record<string, BrowserClient>> = {
  "connect-web 2, Connect": connect(login),
  "connect-web 2, Connect with GET": connectGet(login),
  "connect-web 2, gRPC-Web": grpcWeb(login),
  "connect-web 2, Connect over TLS": connect(tls),
  "connect-web 1, Connect": createConnect1Client(connectWeb1.createConnectTransport(transportOptions(login))),
  "connect-web 1, gRPC-Web": createConnect1Client(
    connectWeb1.createGrpcWebTransport(transportOptions(login)),
  ),
  "grpc-web, text": google(login, "text"),
  "grpc-web, binary": google(login, "binary"),
  "fetch, server-sent events": byEvents,
  "fetch, Connect": byEnvelopes,
};

/** Clients that a page of an unlisted origin tries. */
const refused: Readonly<Record<string, BrowserClient>> = {
  connect: connect(closed),
  connectGet: connectGet(closed),
  grpcWeb: grpcWeb(closed),
  google: google(closed, "text"),
  fetch: createFetchClient(closed, token, serverSentEvents),
  eventSource: createEventSourceClient(closed),
};

const untilTime = parameter("untilTime");
const withoutLogin = createFetchClient(open, "", serverSentEvents);
const { GetLVList, Watch, ListenEvents, CreateHypervisor } = createClientSteps({
  client: createEventSourceClient(open),
  changes: withoutLogin,
  volume: "by-event-source",
  untilTime,
});

const steps: Record<string, Record<string, Step>> = {
  ...Object.fromEntries(Object.entries(clients).map(([name, client]) => [name, stepsOf(name, client)])),
  EventSource: { GetLVList, Watch, ListenEvents, CreateHypervisor } as Record<string, Step>,
  "only fetch": createFetchSteps(login, token, parameter("password"), byEnvelopes),
  "only EventSource": createEventSourceSteps({ open, login, relay: parameter("relay") }, withoutLogin),
  "connect-web 2": {
    httpMethodOfGet: async () => {
      await connectGet(login).unary("proto.VGService/GetLVList", {});
      return fetched.at(-1);
    },
  },
  "origin that is not listed": Object.fromEntries(
    Object.entries(refused).map(([name, client]) => [
      name,
      () => failureOf(client, client.unary("proto.VGService/GetLVList", {})),
    ]),
  ),
};

function stepsOf(name: string, client: BrowserClient): Record<string, Step> {
  const volume = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  // In binary mode the messages of a watch are delivered only when its deadline ends it, so the step cannot make a change after
  // the first message.
  const watchHeaders = name === "grpc-web, binary" ? { "grpc-timeout": "1S" } : {};
  return createClientSteps({ client, volume, untilTime, watchHeaders });
}

async function resultOf(step: Step): Promise<object> {
  const stuck = new Promise<object>((resolve) =>
    setTimeout(() => resolve({ error: "no result within 120 s" }), 120_000),
  );
  const done = step().then(
    (value) => ({ value }),
    (error: unknown) => ({ error: String(error) }),
  );
  return await Promise.race([done, stuck]);
}

const results: Record<string, Record<string, object>> = {};
for (const [client, ownSteps] of Object.entries(steps)) {
  const own: Record<string, object> = {};
  for (const [name, step] of Object.entries(ownSteps)) {
    own[name] = await resultOf(step);
  }
  results[client] = own;
}
await fetch("/results", { method: "POST", body: JSON.stringify(results) });
