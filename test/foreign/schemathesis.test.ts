import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import tap, { type Test, test } from "tap";
import { Role, UserService } from "../../gen/hostplane/v1/user_pb.ts";
import { AuthService } from "../../gen/services/auth/auth_pb.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { pythonEnvironment } from "./python/python-environment.ts";
import { runTool } from "./tool-process.ts";

/**
 * Number of requests of each kind for each operation. The long form also uses the examples and the boundaries of every schema.
 */
const shortForm = 5;
const requestCount = Number(process.env.OPENAPI_FUZZ ?? shortForm);
const isLong = requestCount > shortForm;
const timeoutMs = isLong ? 3_600_000 : 540_000;

tap.setTimeout(timeoutMs + 60_000);
const { path: python, skip } = await pythonEnvironment("schemathesis");

/**
 * Left out because they would lock the test out: logging out, changing the admin's password, deleting the admin, and rotating the
 * key of all logins. And because CSI demands UNIMPLEMENTED (501) of calls that a driver does not offer.
 */
const leftOut = [
  "csi.v1.Controller.ControllerPublishVolume",
  "csi.v1.Controller.ControllerUnpublishVolume",
  "csi.v1.Controller.ControllerModifyVolume",
  "services.auth.AuthService.Logout",
  "hostplane.v1.UserService.ChangePassword",
  "hostplane.v1.UserService.DeleteUser",
  "hostplane.v1.UserService.RotateSigningKey",
];

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly operationId: string;
  readonly "x-hostplane-kind": string;
}

/** Starts a sandbox, and returns its OpenAPI document and an admin's API token, which a logout does not end. */
async function startFuzzed(t: Test) {
  const { url, log } = await startGatewayUnderTest(t, {}, { hasLogin: true, logLevel: "warn" });
  const login = await createClient(
    AuthService,
    createConnectTransport({ baseUrl: url, httpVersion: "1.1" }),
  ).login({
    username: "admin",
    password: adminPassword,
  });
  const users = createClient(
    UserService,
    createConnectTransport({
      baseUrl: url,
      httpVersion: "1.1",
      interceptors: [
        (next) => (request) => {
          request.header.set("authorization", `Bearer ${login.token}`);
          return next(request);
        },
      ],
    }),
  );
  const { token } = await users.createApiToken({ name: "fuzz", role: Role.ADMIN });
  const answer = await fetch(`${url}/openapi.json`);
  t.equal(answer.status, 200);
  const directory = await mkdtemp(join(tmpdir(), "hostplane-"));
  t.teardown(() => rm(directory, { recursive: true }));
  const file = join(directory, "openapi.json");
  await writeFile(file, await answer.text());
  const { paths } = JSON.parse(await readFile(file, "utf8")) as Document;
  return {
    url,
    log,
    token,
    file,
    directory,
    operations: Object.values(paths).flatMap(Object.values<Operation>),
  };
}

test("/openapi.json is valid OpenAPI, and the gateway conforms to it for any request", {
  skip,
}, async (t) => {
  const { url, log, token, file, directory, operations } = await startFuzzed(t);

  await t.test("the OpenAPI validator accepts it", async (t) => {
    const { code, stdout, stderr } = await runTool(python, ["-m", "openapi_spec_validator", file]);
    t.equal(code, 0, `${stdout}${stderr}`);
  });

  /** Lets the fuzzer send requests with these headers to the operations that these options select. */
  async function fuzz(t: Test, headers: readonly string[], chosen: readonly string[], count: number) {
    // The schema of a stream describes its whole text, but the fuzzer would apply it to each event.
    const isStream = headers.length > 0;
    const all = [`authorization: Bearer ${token}`, ...headers];
    const { code, stdout, stderr } = await runTool(
      python,
      [
        ...["-m", "schemathesis.cli", "--config-file", join(import.meta.dirname, "python/schemathesis.toml")],
        ...["run", file, "--url", url, ...all.flatMap((header) => ["--header", header])],
        `--checks=not_a_server_error,status_code_conformance,content_type_conformance${isStream ? "" : ",response_schema_conformance"}`,
        ...chosen,
        `--phases=${isLong ? "examples,coverage,fuzzing" : "fuzzing"}`,
        `--max-examples=${requestCount}`,
        // Several workers crash Python 3.11 in ast.parse.
        ...["--workers=1", "--continue-on-failure", "--request-timeout=20", "--suppress-health-check=all"],
        "--no-shrink",
      ],
      { cwd: directory, timeoutMs },
    );
    const report = stdout.slice(stdout.search(/=+ (?:FAILURES|ERRORS|WARNINGS|SUMMARY) =+/));
    t.equal(code, 0, `${report}${stderr}`);
    t.match(report, `Tested: ${count}`, "no operation is skipped");
    const faults = log.filter(({ level }) => Number(level) >= 50);
    t.same(faults, [], "the gateway's log has no errors");
  }

  const kindOf = (one: Operation) => one["x-hostplane-kind"];
  const streams = operations.filter((one) => kindOf(one) === "server_streaming");

  await t.test("no call returns an undocumented response or an internal error", async (t) => {
    const others = operations.filter((one) => kindOf(one) !== "unary");
    const excluded = [...leftOut, ...others.map(({ operationId }) => operationId)];
    const count = operations.length - excluded.length;
    t.ok(count > 90, `${count} operations`);
    await fuzz(
      t,
      [],
      excluded.flatMap((id) => ["--exclude-operation-id", id]),
      count,
    );
  });

  await t.test("nor does an event stream, until its deadline", async (t) => {
    t.ok(streams.length > 20, `${streams.length} operations`);
    const chosen = streams.flatMap(({ operationId }) => ["--include-operation-id", operationId]);
    await fuzz(t, ["accept: text/event-stream", "connect-timeout-ms: 100"], chosen, streams.length);
  });
});
