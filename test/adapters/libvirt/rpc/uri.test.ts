import fc from "fast-check";
import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { parseLibvirtUri } from "../../../../adapters/libvirt/rpc/uri.ts";
import { anyUrlPath } from "../../../any-url.ts";

const refused = { reason: "INVALID_FIELD", message: /./ };

const environment = { XDG_RUNTIME_DIR: "/run/user/7", HOME: "/home/me" };

test("maps local URIs to their sockets", async (t) => {
  const system = "/run/libvirt/libvirt-sock";
  for (const [uri, socketPath, opened] of [
    ["qemu:///system", system, "qemu:///system"],
    ["QEMU:///system", system, "qemu:///system"],
    ["qemu:///system?mode=auto&no_verify=1", system, "qemu:///system"],
    ["qemu:///system#x", system, "qemu:///system"],
    ["qemu:///system?socket=/x/libvirt-sock", "/x/libvirt-sock", "qemu:///system"],
    ["qemu+unix:///system", system, "qemu:///system"],
    ["qemu+unix:///session", "/run/user/7/libvirt/libvirt-sock", "qemu:///session"],
    ["qemu:///session", "/run/user/7/libvirt/libvirt-sock", "qemu:///session"],
    ["qemu:///session?socket=/a%20b/sock", "/a b/sock", "qemu:///session"],
    ["qemu+unix:///system?socket=/x/virtqemud-sock", "/x/virtqemud-sock", "qemu:///system"],
    ["test:///default", system, "test:///default"],
  ] as const) {
    t.same(parseLibvirtUri(uri, environment), { socketPath, uri: opened }, uri);
  }
});

test("the system socket is the same for every user, and a session's socket is the user's own", async (t) => {
  for (const env of [{}, environment, { XDG_CACHE_HOME: "/c" }]) {
    t.equal(parseLibvirtUri("qemu:///system", env).socketPath, "/run/libvirt/libvirt-sock");
  }
  t.same(parseLibvirtUri("qemu:///session"), parseLibvirtUri("qemu:///session", process.env));
});

test("a session without a runtime directory uses the cache directory", async (t) => {
  const socket = (env: Record<string, string>) => parseLibvirtUri("qemu:///session", env).socketPath;
  t.equal(socket({ HOME: "/home/me" }), "/home/me/.cache/libvirt/libvirt-sock");
  t.equal(socket({ HOME: "/home/me", XDG_CACHE_HOME: "/c" }), "/c/libvirt/libvirt-sock");
  t.equal(socket({ HOME: "/home/me", XDG_RUNTIME_DIR: "" }), "/home/me/.cache/libvirt/libvirt-sock");
});

test("rejects other machines, other transports and invalid URIs", async (t) => {
  for (const uri of [
    "",
    "qemu",
    "/run/libvirt/libvirt-sock",
    "qemu://host/system",
    "qemu+ssh://root@host/system",
    "qemu+tls:///system",
    "qemu:/system",
    "qemu:///system?socket=relative",
    "qemu:///system?socket=",
    "qemu://system",
    "qemu:system",
  ]) {
    t.throws(() => parseLibvirtUri(uri, environment), refused, uri);
  }
});

test("any text is an address or is rejected", async (t) => {
  const nearly = fc.tuple(fc.constantFrom("qemu:", "qemu+unix:", "test:", ""), anyUrlPath, fc.string());
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        nearly.map(([scheme, path, rest]) => `${scheme}//${path}${rest}`),
      ),
      (uri) => {
        try {
          t.match(parseLibvirtUri(uri, environment), { socketPath: /^\//, uri: /^[a-z]+:\/\/\// });
        } catch (error) {
          t.ok(error instanceof InfraError, uri);
        }
      },
    ),
    { numRuns: 300 },
  );
});
