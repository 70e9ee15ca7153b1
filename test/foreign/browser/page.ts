import { ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import type { RpcError } from "grpc-web";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { HypervisorState, OperationsService } from "../../../gen/operations/v1/operations_pb.ts";
import { LVService, VGService } from "../../../gen/proto/lvmd_pb.ts";
import { PublicAPI } from "../../../gen/v1alpha/api_pb.ts";
import { createGoogleClient, type Format } from "./google.ts";

// What the page's script does in the browser. The base URLs of the gateways are in its own query: `open` lists
// the page's origin, `tls` is the same over TLS, `closed` does not list it. What each step found goes to
// /results of the page's own server.

const urls = new URL(import.meta.url).searchParams;
const fetched: string[] = [];

/** The browser's fetch, which notes the method it was called with. */
const notingFetch: typeof fetch = (input, init) => {
  fetched.push(init?.method ?? "GET");
  return fetch(input, init);
};

function connectTo(name: string, useHttpGet = false): Transport {
  return createConnectTransport({ baseUrl: urls.get(name) ?? "", useHttpGet, fetch: notingFetch });
}

function grpcWebTo(name: string): Transport {
  return createGrpcWebTransport({ baseUrl: urls.get(name) ?? "" });
}

async function list(transport: Transport) {
  let requestId: string | null = null;
  const { volumes } = await createClient(VGService, transport).getLVList(
    {},
    {
      onHeader(headers) {
        requestId = headers.get("hostplane-request-id");
      },
    },
  );
  return { volumes: volumes.map(({ name }) => name), requestId, method: fetched.at(-1) };
}

/** How many bytes a volume of 1 GiB takes, as two messages of a stream tell. */
async function watch(transport: Transport, volume: string) {
  const leave = new AbortController();
  let first: bigint | undefined;
  for await (const { freeBytes } of createClient(VGService, transport).watch({}, { signal: leave.signal })) {
    if (first === undefined) {
      first = freeBytes;
      await createClient(LVService, transport).createLV({ name: volume, sizeGb: 1n });
    } else if (freeBytes !== first) {
      leave.abort();
      return { taken: Number(first - freeBytes) };
    }
  }
  return { taken: undefined };
}

async function refusal(transport: Transport) {
  try {
    await createClient(LVService, transport).createLV({ name: "sandbox-web", sizeGb: 1n });
  } catch (thrown) {
    const error = ConnectError.from(thrown);
    return {
      code: error.code,
      message: error.rawMessage,
      reasons: error.findDetails(ErrorInfoSchema).map(({ reason }) => reason),
      requestId: error.metadata.get("hostplane-request-id"),
    };
  }
  return undefined;
}

const steps: Record<string, () => Promise<unknown>> = {
  connectUnary: () => list(connectTo("open")),
  connectGet: () => list(connectTo("open", true)),
  connectStream: () => watch(connectTo("open"), "by-connect"),
  connectError: () => refusal(connectTo("open")),
  grpcWebUnary: () => list(grpcWebTo("open")),
  grpcWebStream: () => watch(grpcWebTo("open"), "by-grpc-web"),
  grpcWebError: () => refusal(grpcWebTo("open")),
  tlsUnary: () => list(connectTo("tls")),
  tlsStream: () => watch(connectTo("tls"), "by-tls"),
  closedUnary: () => list(connectTo("closed")),
  closedGet: () => list(connectTo("closed", true)),
  closedGrpcWeb: () => list(grpcWebTo("closed")),
};

/** Steps with Google's client. In binary mode it delivers a stream only when the stream ends, so a watch is tried in text mode alone. */
function googleSteps(format: Format): Record<string, () => Promise<unknown>> {
  const google = createGoogleClient(urls.get("open") ?? "", format);
  const named = (step: string) => `google-${format}-${step}`;
  async function watchByGoogle() {
    let first: bigint | undefined;
    const name = `seen-by-google-${format}`;
    const messages = await google.stream(VGService.method.watch, {}, async ({ freeBytes }) => {
      if (first === undefined) {
        first = freeBytes;
        await google.unary(LVService.method.createLV, { name, sizeGb: 1n });
      }
      return freeBytes < first;
    });
    return { taken: Number((messages[0]?.freeBytes ?? 0n) - (messages.at(-1)?.freeBytes ?? 0n)) };
  }
  return {
    [named("list")]: async () => {
      const { volumes } = await google.unary(VGService.method.getLVList, {});
      return { volumes: volumes.map(({ name }) => name) };
    },
    [named("error")]: async () => {
      try {
        await google.unary(LVService.method.createLV, { name: "sandbox-web", sizeGb: 1n });
      } catch (thrown) {
        const { code, message } = thrown as RpcError;
        return { code, message };
      }
      return undefined;
    },
    [named("replay")]: async () => {
      const request = { name: `by-google-${format}`, sizeGb: 1n };
      const key = { "idempotency-key": crypto.randomUUID() };
      const made = [];
      for (const _ of [1, 2]) {
        const { volume } = await google.unary(LVService.method.createLV, request, key);
        made.push(volume?.name);
      }
      return made;
    },
    ...(format === "text" ? { [named("watch")]: watchByGoogle } : {}),
    [named("listenEvents")]: async () => {
      const untilTime = BigInt(Math.ceil(Date.now() / 1000) + 3);
      const messages = await google.stream(PublicAPI.method.listenEvents, { filter: { untilTime } });
      return { hasEnded: true, events: messages.flatMap(({ events }) => events).length };
    },
    [named("createHypervisor")]: async () => {
      const { hypervisors } = await google.unary(OperationsService.method.listHypervisors, {});
      const free = hypervisors.find(({ state }) => state === HypervisorState.AVAILABLE_TO_CREATE);
      const request = { id: free?.id ?? "" };
      const steps = await google.stream(OperationsService.method.createHypervisor, request);
      return { id: request.id, states: [...new Set(steps.map(({ state }) => state))] };
    },
  };
}

Object.assign(steps, googleSteps("text"), googleSteps("binary"));

const results: Record<string, unknown> = {};
for (const [name, step] of Object.entries(steps)) {
  const late = new Promise((resolve) => setTimeout(() => resolve("no answer within 30 s"), 30_000));
  results[name] = await Promise.race([step().catch((error: unknown) => String(error)), late]);
}
await fetch("/results", { method: "POST", body: JSON.stringify(results) });
