import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Code } from "@connectrpc/connect";
import tap, { test } from "tap";
import { OperationState } from "../../gen/operations/v1/operations_pb.ts";
import { startGatewayUnderTest } from "../server/gateway-under-test.ts";
import { createCertificate } from "../server/rpc/listener/certificate.ts";
import { chromium, openPage } from "./browser/chromium.ts";
import { startPageServer } from "./browser/page-server.ts";

tap.setTimeout(900_000);
const { path, skip } = await chromium();

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test("connect-web and Google's grpc-web in Chromium, on a page of another origin", {
  skip,
  timeout: 900_000,
}, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-"));
  t.teardown(() => rm(directory, { recursive: true }));
  const [cert, key] = [join(directory, "cert"), join(directory, "key")];
  const certificate = await createCertificate("localhost");
  await Promise.all([writeFile(cert, certificate.cert), writeFile(key, certificate.key)]);

  const query = new URLSearchParams();
  const page = await startPageServer(t, () => query);
  const open = await startGatewayUnderTest(t, {
    listen: [{ address: "127.0.0.1:0" }, { address: "127.0.0.1:0", tls: { cert, key } }],
    cors: { origins: [page.origin] },
  });
  const closed = await startGatewayUnderTest(t);
  query.set("open", open.url);
  query.set("tls", `https://${open.gateway.addresses[1]}`);
  query.set("closed", closed.url);

  const browser = await openPage(t, path, page.origin, certificate.cert);
  const results = await Promise.race([page.results, sleep(600_000, undefined, { ref: false })]);
  if (results === undefined) {
    throw new Error(`no results: ${browser.stderr().slice(-2000)}`);
  }

  const volumes = ["sandbox-web", "sandbox-db"];
  t.match(results.connectUnary, { volumes, requestId: uuid, method: "POST" }, "Connect unary");
  t.match(results.connectGet, { volumes, requestId: uuid, method: "GET" }, "Connect GET");
  t.match(results.grpcWebUnary, { volumes, requestId: uuid }, "gRPC-Web unary");
  t.match(results.tlsUnary, { volumes, requestId: uuid }, "Connect unary over TLS");
  for (const name of ["connectStream", "grpcWebStream", "tlsStream"]) {
    t.same(results[name], { taken: 2 ** 30 }, name);
  }
  const error = {
    code: Code.AlreadyExists,
    message: "sandbox-vg/sandbox-web already exists",
    reasons: ["VOLUME_EXISTS"],
    requestId: uuid,
  };
  t.match(results.connectError, error, "Connect error");
  t.match(results.grpcWebError, error, "gRPC-Web error");
  for (const format of ["text", "binary"]) {
    const found = (step: string) => results[`google-${format}-${step}`];
    t.match(found("list"), { volumes }, `grpc-web ${format} unary`);
    t.same(found("error"), { code: error.code, message: error.message }, `grpc-web ${format} error`);
    const name = `by-google-${format}`;
    t.same(found("replay"), [name, name], `grpc-web ${format} with an idempotency key`);
    t.match(found("listenEvents"), { hasEnded: true }, `grpc-web ${format} stream of events`);
    const { SCHEDULED, ACTIVE, COMPLETED } = OperationState;
    const states = [SCHEDULED, ACTIVE, COMPLETED];
    t.match(found("createHypervisor"), { states }, `grpc-web ${format} stream with an end`);
  }
  t.same(results["google-text-watch"], { taken: 2 ** 30 }, "grpc-web text stream without an end");
  for (const name of ["closedUnary", "closedGet", "closedGrpcWeb"]) {
    t.match(results[name], /Failed to fetch/, `${name}: the browser is refused`);
  }
  t.same(
    closed.log.filter(({ rpc }) => rpc !== undefined),
    [],
    "no call of a page that is not listed reaches a method",
  );
});
