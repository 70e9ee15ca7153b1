import { ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { LVService, VGService } from "../../../gen/proto/lvmd_pb.ts";

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

const steps: Readonly<Record<string, () => Promise<unknown>>> = {
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

const results: Record<string, unknown> = {};
for (const [name, step] of Object.entries(steps)) {
  results[name] = await step().catch((error: unknown) => String(error));
}
await fetch("/results", { method: "POST", body: JSON.stringify(results) });
