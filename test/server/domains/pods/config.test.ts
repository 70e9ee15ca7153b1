import fc from "fast-check";
import { test } from "tap";
import { configSchema } from "../../../../server/gateway/config/schema.ts";

function messagesOf(pods: unknown): readonly string[] {
  const { issues } = configSchema.safeParse({ pods }).error ?? { issues: [] };
  return issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

test("the default Podman socket is where its packages put it", (t) => {
  t.same(configSchema.parse({ pods: { podman: {} } }).pods, {
    podman: { socket: "/run/podman/podman.sock" },
  });
  const podman = { socket: "/run/user/1000/podman/podman.sock" };
  t.same(configSchema.parse({ pods: { podman } }).pods, { podman });
  t.equal(configSchema.parse({}).pods, undefined, "without the key pods are off");
  t.end();
});

test("the only runtime is Podman, and its socket has an absolute path that fits", (t) => {
  t.match(messagesOf({}), [/^pods\.podman: /]);
  t.match(messagesOf({ podman: { socket: "podman.sock" } }), [
    /^pods\.podman\.socket: expected the absolute path of a unix socket/,
  ]);
  t.match(messagesOf({ podman: { socket: `/${"x".repeat(107)}` } }), [/of at most 107 characters/]);
  t.match(messagesOf({ podman: { socket: "/x", uri: "unix:///x" } }), [/^pods\.podman: .*uri/]);
  t.match(messagesOf({ podman: {}, containerd: {} }), [/^pods: .*containerd/]);
  t.end();
});

test("a path of any characters is kept unchanged if a socket can have it", (t) => {
  fc.assert(
    fc.property(fc.string({ maxLength: 130 }), (rest) => {
      const socket = `/${rest}`;
      const parsed = configSchema.safeParse({ pods: { podman: { socket } } });
      const fits = socket.length >= 2 && socket.length <= 107;
      return parsed.success === fits && (!fits || parsed.data?.pods?.podman.socket === socket);
    }),
  );
  t.end();
});
