import { readFileSync } from "node:fs";
import { test } from "tap";
import { startGatewayUnderTest } from "../../../harness/gateway-under-test.ts";

const origin = "http://localhost:5173";

/** Request headers for browser clients, by the page of docs/ that documents them. */
const documented: Readonly<Record<string, readonly string[]>> = {
  "reference/protocols.md": ["connect-timeout-ms", "grpc-timeout", "idempotency-key", "last-event-id"],
  "how-to/manage-access.md": ["authorization"],
  "how-to/monitor.md": ["traceparent"],
};

/** Headers of Connect, gRPC-Web, HTTP caching and W3C Trace Context. */
const ofProtocols = [
  "accept-encoding",
  "connect-accept-encoding",
  "connect-content-encoding",
  "connect-protocol-version",
  "content-encoding",
  "content-type",
  "grpc-accept-encoding",
  "grpc-encoding",
  "if-none-match",
  "tracestate",
  "x-grpc-web",
  "x-user-agent",
];

async function preflight(url: string, method: string, headers: readonly string[]): Promise<Headers> {
  const answer = await fetch(url, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": method,
      "access-control-request-headers": headers.join(","),
    },
  });
  return answer.headers;
}

function listOf(headers: Headers, name: string): readonly string[] {
  return (headers.get(name) ?? "").toLowerCase().split(/, */);
}

test("a page from a listed origin may send every documented header", async (t) => {
  const { url } = await startGatewayUnderTest(t, { cors: { origins: [origin] } });
  const all = [...Object.values(documented).flat(), ...ofProtocols];
  for (const [page, names] of Object.entries(documented)) {
    const text = readFileSync(new URL(`../../../../../docs/${page}`, import.meta.url), "utf8").toLowerCase();
    t.same(
      names.filter((name) => !text.includes(name)),
      [],
      page,
    );
  }
  for (const path of ["/proto.VGService/GetLVList", "/api/proto.VGService/Watch", "/api/v1/cluster/pool"]) {
    const headers = await preflight(`${url}${path}`, "POST", all);
    t.equal(headers.get("access-control-allow-origin"), origin);
    const allowed = new Set(listOf(headers, "access-control-allow-headers"));
    t.same(
      all.filter((name) => !allowed.has(name)),
      [],
      path,
    );
    // A session cookie is only accepted from the gateway's own pages.
    t.notOk(allowed.has("hostplane-session") || headers.has("access-control-allow-credentials"), path);
  }
});

test("it may read the headers of the answer", async (t) => {
  const { url } = await startGatewayUnderTest(t, { cors: { origins: [origin] } });
  const answer = await fetch(`${url}/proto.VGService/GetLVList?encoding=json&message={}`, {
    headers: { origin },
  });
  const exposed = listOf(answer.headers, "access-control-expose-headers");
  const own = [...answer.headers.keys()].filter((name) => /^(hostplane-|etag$|traceparent$)/.test(name));
  t.ok(own.includes("hostplane-request-id"), own.join());
  t.ok(own.includes("etag"), own.join());
  t.same(
    [...own, "retry-after", "grpc-status", "grpc-message"].filter((name) => !exposed.includes(name)),
    [],
  );
});

test("a page from another origin gets no permission", async (t) => {
  const { url } = await startGatewayUnderTest(t, { cors: { origins: [origin] } });
  const answer = await fetch(`${url}/proto.VGService/GetLVList`, {
    method: "OPTIONS",
    headers: { origin: "http://elsewhere.example", "access-control-request-method": "POST" },
  });
  t.not(answer.headers.get("access-control-allow-origin"), "http://elsewhere.example");
});
