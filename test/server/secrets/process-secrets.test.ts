import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { Role, UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { LVService } from "../../../gen/proto/lvmd_pb.ts";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import { hostplane, main, start } from "../cli/run-hostplane.ts";
import { rpcErrorOf } from "../harness/rpc-error.ts";
import { standInLvm } from "../observability/stand-in-lvm.ts";

const onLinux = process.platform === "linux" ? false : "reads /proc";

test("no secret is in the arguments or the environment of any process except the gateway", {
  skip: onLinux,
}, async (t) => {
  const adminPassword = "password of the environment";
  const aliceSecret = "password of a request";
  const s3Secret = "secret of a data source";
  const key = randomBytes(32).toString("base64");
  const directory = await mkdtemp(join(tmpdir(), "hostplane-process-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const { volumes } = await standInLvm(t);
  const [program = ""] = volumes.lvm.command;
  const notes = join(dirname(program), "notes");
  const script = await readFile(program, "utf8");
  const noting = `tr '\\0' ' ' < /proc/$$/cmdline >> "${notes}"; env >> "${notes}"; case "$1"`;
  await writeFile(
    program,
    script.replace('case "$1"', () => noting),
  );
  const config = join(directory, "hostplane.yaml");
  const settings = { listen: [{ address: "127.0.0.1:0" }], data: join(directory, "data"), volumes };
  await writeFile(config, JSON.stringify(settings));

  const env = { HOSTPLANE_ADMIN_PASSWORD: adminPassword, HOSTPLANE_KEY: key };
  const gateway = start([process.execPath, main, "serve", "--config", config], { env });
  t.teardown(() => gateway.child.kill("SIGKILL"));
  const [baseUrl] = await gateway.untilPrinted(/http:\/\/127\.0\.0\.1:\d+/);
  const transport = createConnectTransport({ baseUrl, httpVersion: "1.1" });
  const { token } = await createClient(AuthService, transport).login({
    username: "admin",
    password: adminPassword,
  });
  const headers = { authorization: `Bearer ${token}` };
  await createClient(UserService, transport).createUser(
    { name: "alice", role: Role.VIEWER, password: aliceSecret },
    { headers },
  );
  const volumesClient = createClient(LVService, transport);
  await volumesClient.createLV({ name: "data", sizeGb: 1n }, { headers });
  const s3 = { endpoint: "https://s3.example.org", secretAccessKey: s3Secret };
  const withSource = { name: "x", sizeGb: 1n, dataSource: { type: { case: "s3" as const, value: s3 } } };
  await rpcErrorOf(volumesClient.createLV(withSource, { headers }));
  const passwd = await hostplane(["user", "passwd", "alice", "--config", config], env, `${aliceSecret} 2\n`);
  t.equal(passwd.code, 0, passwd.stderr);

  const ownArguments = await readFile(`/proc/${gateway.child.pid}/cmdline`, "latin1");
  const tools = await readFile(notes, "latin1");
  t.match(tools, /lvcreate/, "the tools have recorded how they were started");
  gateway.child.kill("SIGTERM");
  const { stdout, stderr } = await gateway.ended;
  const outlets = { ownArguments, tools, stdout, stderr, passwd: passwd.stdout + passwd.stderr };
  for (const [where, text] of Object.entries(outlets)) {
    for (const secret of [adminPassword, aliceSecret, s3Secret, key, token]) {
      t.notOk(text.includes(secret), `${secret.slice(0, 12)}... in ${where}`);
    }
  }
});
