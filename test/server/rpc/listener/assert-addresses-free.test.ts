import { execFile } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Test, test } from "tap";
import { assertAddressesFree } from "../../../../server/rpc/listener/assert-addresses-free.ts";
import { explainListenFailure } from "../../../../server/rpc/listener/explain-listen-failure.ts";

const program = fileURLToPath(new URL("./assert-addresses-free-process.ts", import.meta.url));

/** Creates a directory whose path is short enough for a socket in it. */
async function shortDirectory(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-"));
  t.teardown(() => rm(directory, { recursive: true }));
  return directory;
}

async function messageOf(address: string, data = "/nowhere"): Promise<string> {
  return assertAddressesFree({ listen: [{ address }], data }).then(
    () => "",
    (error: Error) => error.message,
  );
}

async function listenOn(t: Test, where: string | number): Promise<AddressInfo | string | null> {
  const server = createServer((socket) => socket.destroy()).listen(where);
  await once(server, "listening");
  t.teardown(() => server.close());
  return server.address();
}

test("TCP addresses: one in use, a name without an address, a privileged port", async (t) => {
  const { port } = (await listenOn(t, 0)) as AddressInfo;
  t.match(
    await messageOf(`127.0.0.1:${port}`),
    `cannot listen on 127.0.0.1:${port} (EADDRINUSE): another program uses it`,
  );
  t.match(await messageOf("host.invalid:8080"), /\(ENOTFOUND\): the name has no IP address|EAI_AGAIN/);
  t.equal(await messageOf("127.0.0.1:0"), "");
  const denied = Object.assign(new Error("bind EACCES"), { code: "EACCES" });
  t.match(explainListenFailure(denied, "127.0.0.1:80"), { message: /ports below 1024 need root/ });
  const other = Object.assign(new Error("bind EMFILE"), { code: "EMFILE" });
  t.equal(explainListenFailure(other, "127.0.0.1:80"), other);
});

test("sockets: one that is answered, a file that is not a socket, and one of a killed gateway", async (t) => {
  const directory = await shortDirectory(t);
  const path = join(directory, "a.sock");
  t.equal(await messageOf(`unix:${path}`), "");
  await listenOn(t, path);
  t.equal(
    await messageOf(`unix:${path}`),
    `cannot listen on unix:${path} (EADDRINUSE): another program listens on this socket, perhaps another hostplane: stop that program, or choose another address with --listen`,
  );
  await writeFile(join(directory, "file"), "");
  t.match(await messageOf(`unix:${join(directory, "file")}`), /\(EEXIST\): a file that is not a socket/);
  t.match(await messageOf(`unix:${join(directory, "file/a.sock")}`), /file is not a directory/);

  const killed = join(directory, "killed.sock");
  const script = "require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 9))";
  await promisify(execFile)(process.execPath, ["-e", script, killed]).catch(() => {});
  t.equal(await messageOf(`unix:${killed}`), "");
  t.same(readdirSync(directory), ["a.sock", "file", "killed.sock"], "nothing is created or removed");
});

test("sockets: a directory that does not exist, unless the start creates it", async (t) => {
  const directory = await shortDirectory(t);
  const absent = join(directory, "absent");
  t.match(
    await messageOf(`unix:${absent}/a.sock`),
    `cannot listen on unix:${absent}/a.sock (ENOENT): the directory ${absent} does not exist: create it, or choose`,
  );
  t.equal(await messageOf(`unix:${absent}/a.sock`, absent), "");
  t.equal(await messageOf(`unix:${absent}/sandbox/a.sock`, absent), "");
  t.match(await messageOf(`unix:${absent}/a.sock`, `${absent}-other`), /ENOENT/);
});

test("sockets: a directory that this user cannot write to, even if the test runs as root", async (t) => {
  const directory = await shortDirectory(t);
  const closed = join(directory, "closed");
  await mkdir(closed);
  await chmod(directory, 0o755);
  await chmod(closed, 0o555);
  const address = `unix:${closed}/a.sock`;
  const { stdout } = await promisify(execFile)(process.execPath, [program, address]);
  t.equal(
    stdout,
    `cannot listen on ${address} (EACCES): this user may not create a socket in ${closed}: give it write access to that directory, or choose another address with --listen`,
  );
});
