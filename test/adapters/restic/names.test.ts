import fc from "fast-check";
import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Repository } from "../../../adapters/restic/adapter.ts";
import { environmentOfRepository } from "../../../adapters/restic/commands.ts";
import {
  assertFileName,
  assertLocalPath,
  assertRepository,
  assertS3Path,
  assertSnapshotId,
  assertSomeTags,
  assertTags,
  endpointOrigin,
  proxyUrl,
} from "../../../adapters/restic/names.ts";
import { anyUrl } from "../../any-url.ts";

/** Returns the field that an assertion reports; undefined if it passes. */
function fieldOf(assertion: () => unknown): string | undefined {
  try {
    assertion();
    return undefined;
  } catch (error) {
    if (!(error instanceof InfraError) || error.reason !== "INVALID_FIELD") {
      throw error;
    }
    return error.violations[0]?.field;
  }
}

const local: Repository = { location: { kind: "local", path: "/srv/backup" }, password: "p" };
const s3: Repository = {
  location: { kind: "s3", endpoint: "https://s3.example.org", path: "bucket/a/b" },
  password: "p",
  access: { accessKeyId: "id", secretAccessKey: "key" },
};

test("an endpoint is an http or https server without anything else", (t) => {
  const good: Record<string, string> = {
    "https://s3.example.org": "https://s3.example.org",
    "https://s3.example.org/": "https://s3.example.org",
    "HTTPS://S3.Example.org:443": "https://s3.example.org",
    "http://127.0.0.1:9000": "http://127.0.0.1:9000",
    "http://[::1]:9000": "http://[::1]:9000",
  };
  for (const [endpoint, origin] of Object.entries(good)) {
    t.equal(endpointOrigin(endpoint, "endpoint"), origin);
  }
  const bad = [
    ...[
      "",
      "s3.example.org",
      "s3:https://s3.example.org",
      "rest:http://x",
      "sftp:user@host:/x",
      "rclone:x:y",
    ],
    ...[
      "file:///etc",
      "ftp://x",
      "http:x",
      "http:///x",
      "http:\\\\x",
      "//x",
      "https://",
      "javascript:alert(1)",
    ],
    ...["https://u:p@x", "https://u@x", "https://x/path", "https://x/?q", "https://x?q", "https://x#f"],
    ...[
      "https://x/#",
      "https://x y",
      "https://x\n",
      "https://x\0",
      " https://x",
      "https://x\\@y",
      "-o",
      "/srv",
    ],
  ];
  for (const endpoint of bad) {
    t.equal(
      fieldOf(() => endpointOrigin(endpoint, "endpoint")),
      "endpoint",
      JSON.stringify(endpoint),
    );
  }
  t.end();
});

test("an S3 path is a bucket and plain segments", (t) => {
  for (const path of ["bucket", "my.bucket-1/a", "bucket/a/b_c/D=1@x+y", `bucket/${"a".repeat(255)}`]) {
    t.equal(
      fieldOf(() => assertS3Path(path, "path")),
      undefined,
      path,
    );
  }
  const bad = [
    ...[
      "",
      "/",
      "/bucket",
      "bucket/",
      "bucket//a",
      "bucket/.",
      "bucket/..",
      "bucket/../x",
      "../x",
      "ab",
      "-bucket",
    ],
    ...[
      "bucket/a b",
      "bucket/a%2e%2e",
      "bucket/a?x",
      "bucket/a#x",
      "bucket/a:b",
      "bucket/a\\b",
      "bucket/\0",
      "bucket/é",
    ],
    ...[
      "bucket/a\n",
      `bucket/${"a".repeat(256)}`,
      `bucket${"/abcdefgh".repeat(100)}`,
      "bucket-",
      "b".repeat(64),
    ],
  ];
  for (const path of bad) {
    t.equal(
      fieldOf(() => assertS3Path(path, "path")),
      "path",
      JSON.stringify(path),
    );
  }
  t.end();
});

test("a local repository is an absolute path", (t) => {
  for (const path of ["/", "/srv/backup", "/srv/with space/é:x"]) {
    t.equal(
      fieldOf(() => assertLocalPath(path, "path")),
      undefined,
      path,
    );
  }
  for (const path of [
    "",
    "srv",
    "s3:http://x/y",
    "sftp:x:/y",
    "/a/../b",
    "/..",
    "/a\nb",
    "/a\0",
    `/${"a".repeat(3000)}`,
  ]) {
    t.equal(
      fieldOf(() => assertLocalPath(path, "path")),
      "path",
      JSON.stringify(path),
    );
  }
  t.end();
});

test("a proxy may have credentials, but nothing after its port", (t) => {
  t.equal(proxyUrl("http://user:pa%20ss@proxy:3128", "http_proxy"), "http://user:pa%20ss@proxy:3128/");
  for (const proxy of [
    "",
    "proxy:3128",
    "socks5://proxy",
    "http://proxy/x",
    "http://proxy?x",
    "http://pro xy",
  ]) {
    t.equal(
      fieldOf(() => proxyUrl(proxy, "http_proxy")),
      "http_proxy",
      proxy,
    );
  }
  t.end();
});

test("a rejected repository names the invalid field, with the caller's prefix", (t) => {
  const access = { accessKeyId: "id", secretAccessKey: "key" };
  const cases: [Repository, string | undefined][] = [
    [local, undefined],
    [s3, undefined],
    [{ ...local, password: "" }, "encryption_key"],
    [{ ...local, password: "a\0b" }, "encryption_key"],
    [{ ...local, location: { kind: "local", path: "relative" } }, "path"],
    [{ ...s3, location: { kind: "s3", endpoint: "x", path: "bucket" } }, "endpoint"],
    [{ ...s3, location: { kind: "s3", endpoint: "http://x", path: "b" } }, "path"],
    [{ location: s3.location, password: "p" }, "access_key_id"],
    [{ ...s3, access: { ...access, accessKeyId: "" } }, "access_key_id"],
    [{ ...s3, access: { ...access, secretAccessKey: "" } }, "secret_access_key"],
    [{ ...s3, access: { ...access, sessionToken: "a\r\nb" } }, "session_token"],
    [{ ...s3, httpProxy: "x" }, "http_proxy"],
    [{ ...s3, httpsProxy: "x" }, "https_proxy"],
  ];
  for (const [repository, field] of cases) {
    const expected = field === undefined ? undefined : `s3.${field}`;
    t.equal(
      fieldOf(() => assertRepository(repository, "s3.")),
      expected,
    );
  }
  t.end();
});

test("tags, file names and ids are plain", (t) => {
  t.equal(
    fieldOf(() => assertTags(["a", "volume=vg0/data", "at:1@x+y"], "tags")),
    undefined,
  );
  for (const tag of ["", "a,b", "a b", "é", "a\n", "a".repeat(301)]) {
    t.equal(
      fieldOf(() => assertTags(["a", tag], "tags")),
      "tags[1]",
      tag,
    );
  }
  t.equal(
    fieldOf(() => assertSomeTags([], "tags")),
    "tags",
  );
  for (const name of ["data", "-x", "a b", "...", "é"]) {
    t.equal(
      fieldOf(() => assertFileName(name, "name")),
      undefined,
      name,
    );
  }
  for (const name of ["", ".", "..", "a/b", "a\0", "a\n", "é".repeat(128)]) {
    t.equal(
      fieldOf(() => assertFileName(name, "name")),
      "name",
      name,
    );
  }
  t.equal(
    fieldOf(() => assertSnapshotId("0123abcd", "id")),
    undefined,
  );
  for (const id of [
    "",
    "latest",
    "0123abc",
    "0123abcg",
    "0123ABCD",
    "--help00",
    "0".repeat(65),
    "01234567\n",
  ]) {
    t.equal(
      fieldOf(() => assertSnapshotId(id, "id")),
      "id",
      id,
    );
  }
  t.end();
});

test("an accepted repository names one http or https server, and a path in one bucket", (t) => {
  const hostile = fc.oneof(
    fc.string(),
    fc.tuple(anyUrl, fc.constantFrom("", "?versions", "#part")).map((parts) => parts.join("")),
    fc.stringMatching(/^(https?|s3|rest|sftp|rclone|b2):[a-z:/.@%?#\\0-9[\]-]*$/),
    fc.constantFrom("https://s3.example.org", "http://10.0.0.1:9000"),
  );
  const path = fc.oneof(
    fc.string(),
    fc.stringMatching(/^[a-z./%~:\\-]*$/),
    fc.constantFrom("bucket/x", "bucket"),
  );
  let passed = 0;
  fc.assert(
    fc.property(hostile, path, (endpoint, path) => {
      const repository: Repository = { ...s3, location: { kind: "s3", endpoint, path } };
      if (fieldOf(() => assertRepository(repository)) !== undefined) {
        return true;
      }
      passed += 1;
      const place = environmentOfRepository(repository).RESTIC_REPOSITORY ?? "";
      const url = new URL(place.slice("s3:".length));
      return (
        /^s3:https?:\/\//.test(place) &&
        `${url.username}${url.password}${url.search}${url.hash}` === "" &&
        url.pathname === `/${path}`
      );
    }),
    { numRuns: 2_000 },
  );
  t.ok(passed > 0);
  t.end();
});
