import fc from "fast-check";
import { test } from "tap";
import { imageNameFrom } from "../../../../server/domains/pods/image-name.ts";

test("a name is split after its last slash, and its digest is dropped", async (t) => {
  const digest = `sha256:${"0".repeat(64)}`;
  for (const [reference, name, version] of [
    ["docker.io/library/busybox:1.35", "docker.io/library/busybox", "1.35"],
    ["localhost:5000/web", "localhost:5000/web", ""],
    ["localhost:5000/web:2.0", "localhost:5000/web", "2.0"],
    [`quay.io/a/b@${digest}`, "quay.io/a/b", ""],
    [`quay.io:443/a/b:3@${digest}`, "quay.io:443/a/b", "3"],
    ["busybox", "busybox", ""],
    ["", "", ""],
  ] as const) {
    t.same(imageNameFrom(reference), { name, version }, reference);
  }
});

test("a combined name and tag are split again", async () => {
  const part = fc.stringMatching(/^[a-z0-9]+([._-][a-z0-9]+){0,2}$/);
  const registry = fc.tuple(part, fc.option(fc.integer({ min: 1, max: 65535 })));
  const tag = fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,20}$/);
  fc.assert(
    fc.property(
      registry,
      fc.array(part, { minLength: 1, maxLength: 3 }),
      tag,
      ([host, port], path, version) => {
        const name = [port === null ? host : `${host}:${port}`, ...path].join("/");
        const found = imageNameFrom(`${name}:${version}`);
        return found.name === name && found.version === version && imageNameFrom(name).name === name;
      },
    ),
  );
});
