import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { test } from "tap";
import { parse as parseYaml } from "yaml";
import { renderCloudConfig } from "../../../../../server/domains/clusters/bootstrap/cloud-config.ts";

interface WrittenFile {
  readonly path: string;
  readonly content: string;
  readonly encoding?: "b64";
}

test("cloud-init gets files and commands in order, and updates nothing", async (t) => {
  const text = renderCloudConfig(
    [{ path: "/etc/a", content: "one\ntwo\n", permissions: "0600" }],
    [
      ["swapoff", "--all"],
      ["echo", "$(reboot); 'x'"],
    ],
  );
  t.match(text, /^#cloud-config\n/, "the line by which cloud-init recognizes it");
  t.same(parseYaml(text), {
    package_update: false,
    package_upgrade: false,
    write_files: [{ path: "/etc/a", owner: "root:root", permissions: "0600", content: "one\ntwo\n" }],
    runcmd: [
      ["swapoff", "--all"],
      ["echo", "$(reboot); 'x'"],
    ],
  });
});

test("every file is written unchanged, whatever it contains", async () => {
  const contents = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: fc.constantFrom(..."a \n\t-#:'\"{}\u0085\u2028é") }),
  );
  fc.assert(
    fc.property(fc.array(contents, { maxLength: 4 }), (texts) => {
      const files = texts.map((content) => ({ path: "/a", content, permissions: "0644" as const }));
      const config = parseYaml(renderCloudConfig(files, []), { version: "1.1" });
      const written: readonly WrittenFile[] = config.write_files;
      return isDeepStrictEqual(
        written.map(({ content, encoding }) =>
          encoding === "b64" ? Buffer.from(content, "base64").toString() : content,
        ),
        texts,
      );
    }),
    { numRuns: 1000 },
  );
});
