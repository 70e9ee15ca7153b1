import { test } from "tap";
import { bannerLines } from "../../../server/commands/banner.ts";

const tcp = { address: "127.0.0.1:8080", isTls: false, services: undefined };

test("a sandbox says what it is, where it is and how to try it", async (t) => {
  t.same(bannerLines({ version: "1.2.3", isSandbox: true, listeners: [tcp] }), [
    "hostplane 1.2.3 serves a sandbox: nothing in it is real, nothing on this host is touched",
    "  http://127.0.0.1:8080",
    "Try it:",
    "  curl -H 'content-type: application/json' -d '{}' http://127.0.0.1:8080/proto.VGService/GetLVList",
  ]);
});

test("the example goes to a listener that serves it, by its own scheme", async (t) => {
  const health = { ...tcp, services: ["grpc.health.v1.Health"] };
  const socket = { address: "unix:/run/a.sock", isTls: false, services: ["proto.VGService"] };
  const lines = (...listeners: (typeof tcp | typeof socket | typeof health)[]) =>
    bannerLines({ version: "1", isSandbox: true, listeners });
  t.match(lines(health, socket).at(-1), /curl --unix-socket \/run\/a\.sock .* http:\/\/localhost\/proto/);
  t.match(lines({ ...tcp, isTls: true }).at(-1), /curl --insecure .* https:\/\/127\.0\.0\.1:8080\/proto/);
  t.equal(lines(health).length, 2);
});

test("a real gateway has no example to paste", async (t) => {
  t.same(bannerLines({ version: "1", isSandbox: false, listeners: [tcp] }), [
    "hostplane 1 serves this host",
    "  http://127.0.0.1:8080",
  ]);
});
