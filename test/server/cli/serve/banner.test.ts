import { test } from "tap";
import { type BannerAdmin, bannerLines } from "../../../../server/cli/serve/banner.ts";

const tcp = { address: "127.0.0.1:8080", isTls: false, services: undefined };

const nothing = { admin: undefined, token: undefined, loginPath: undefined };

test("a sandbox shows that it is one, its address and an example", async (t) => {
  const given = { token: "abc", loginPath: "/login/once" };
  t.same(bannerLines({ version: "1.2.3", isSandbox: true, listeners: [tcp], ...nothing, ...given }), [
    "hostplane 1.2.3 serves a sandbox (simulated systems only; this host is not touched)",
    "  http://127.0.0.1:8080",
    "Open the dashboard (this link logs in once):",
    "  http://127.0.0.1:8080/login/once",
    "The admin password was printed at the first start; to set a new one run: hostplane user passwd admin --sandbox",
    "Try it:",
    "  curl -H 'authorization: Bearer abc' -H 'content-type: application/json' -d '{}' http://127.0.0.1:8080/proto.VGService/GetLVList",
    "For the examples of the documentation:",
    "  export TOKEN=abc",
  ]);
});

test("the example uses a listener that serves it, with that listener's scheme", async (t) => {
  const health = { ...tcp, services: ["grpc.health.v1.Health"] };
  const socket = { address: "unix:/run/a.sock", isTls: false, services: ["proto.VGService"] };
  const lines = (...listeners: (typeof tcp | typeof socket | typeof health)[]) =>
    bannerLines({ version: "1", isSandbox: true, listeners, ...nothing });
  t.match(lines(health, socket).at(-1), /curl --unix-socket \/run\/a\.sock .* http:\/\/localhost\/proto/);
  t.match(lines({ ...tcp, isTls: true }).at(-1), /curl --insecure .* https:\/\/127\.0\.0\.1:8080\/proto/);
  t.equal(lines(health).length, 3);
});

test("a listener on all addresses is shown with one that clients can connect to", async (t) => {
  for (const address of ["0.0.0.0:8080", "[::]:8080"]) {
    const listeners = [{ ...tcp, address }];
    const lines = bannerLines({ version: "1", isSandbox: true, listeners, ...nothing });
    t.equal(lines[1], "  http://127.0.0.1:8080 (and every other address)");
    t.match(lines.at(-1), / http:\/\/127\.0\.0\.1:8080\/proto/);
  }
});

test("a real gateway has no example to paste", async (t) => {
  t.same(bannerLines({ version: "1", isSandbox: false, listeners: [tcp], ...nothing }), [
    "hostplane 1 serves this host",
    "  http://127.0.0.1:8080",
  ]);
});

test("the first start shows how to log in, and a password only in a sandbox", async (t) => {
  const linesWith = (password: BannerAdmin["password"]) =>
    bannerLines({
      version: "1",
      isSandbox: false,
      listeners: [],
      ...nothing,
      admin: { name: "admin", password },
    }).slice(1);
  t.same(linesWith({ kind: "shown", text: "made-up" }), [
    "First start: log in as admin with the password made-up",
  ]);
  t.same(linesWith({ kind: "file", path: "/var/lib/hostplane/admin-password" }), [
    "First start: log in as admin with the password in /var/lib/hostplane/admin-password",
    "  then choose your own (hostplane user passwd admin) and remove the file",
  ]);
  t.same(linesWith({ kind: "given" }), [
    "First start: log in as admin with the password of HOSTPLANE_ADMIN_PASSWORD",
  ]);
});
