import fc from "fast-check";
import { test } from "tap";
import {
  assertApiTokenName,
  assertUserName,
  certificateNamesFrom,
  serviceLimitFrom,
} from "../../../../../server/domains/auth/access/account-rules.ts";

function isRefused(work: () => unknown): boolean {
  try {
    work();
    return false;
  } catch {
    return true;
  }
}

test("user names", async (t) => {
  for (const name of ["abc", "Alice-1_x", "a".repeat(24), "---"]) {
    t.notOk(
      isRefused(() => assertUserName(name)),
      name,
    );
  }
  for (const name of ["", "ab", "a".repeat(25), "a b", "alice\n", "ålice", "a/b", "a.b"]) {
    t.ok(
      isRefused(() => assertUserName(name)),
      JSON.stringify(name),
    );
  }
});

test("token names", async (t) => {
  for (const name of ["a", "backup-job.1", "0_", "a".repeat(63)]) {
    t.notOk(
      isRefused(() => assertApiTokenName(name)),
      name,
    );
  }
  for (const name of ["", "-a", ".a", "a".repeat(64), "a b", "a\n", "a/b"]) {
    t.ok(
      isRefused(() => assertApiTokenName(name)),
      JSON.stringify(name),
    );
  }
});

test("certificate names", async (t) => {
  for (const name of [
    "CN=collector",
    "CN=Alice Example",
    "CN=a=b:c",
    "DNS:host.example.org",
    "DNS:*.example.org",
    "DNS:localhost",
    "URI:spiffe://example.org/collector",
    "URI:urn:uuid:0",
    "email:alice@example.org",
  ]) {
    t.same(certificateNamesFrom([name, name]), [name]);
  }
  for (const name of [
    "",
    "collector",
    "CN=",
    "CN:collector",
    "DNS=host",
    "DNS:",
    "DNS:a..b",
    "DNS:-a",
    "URI:no uri",
    "URI:",
    "email:alice",
    "email:a@b@c",
    "CN=a\nb",
    "CN=a\u202eb",
    "email:a@\u2066b",
    "cn=a",
    "OU=a",
    "IP:127.0.0.1",
    `URI:x:${"a".repeat(255)}`,
  ]) {
    t.ok(
      isRefused(() => certificateNamesFrom([name])),
      JSON.stringify(name),
    );
  }
  t.ok(isRefused(() => certificateNamesFrom(Array.from({ length: 17 }, (_, at) => `CN=${at}`))));
});

test("arbitrary text is not a certificate name, and is refused quickly", async () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 300 }),
      fc.constantFrom("", "CN=", "DNS:", "URI:", "email:"),
      (text, type) => {
        const name = type + text;
        if (!isRefused(() => certificateNamesFrom([name]))) {
          return /^(CN=|DNS:|URI:|email:)./.test(name) && !/\p{Cc}/u.test(name);
        }
        return true;
      },
    ),
  );
});

test("a list of services is sorted and without duplicates; an empty list is no limit", async (t) => {
  const known = ["a.A", "b.B", "c.C"];
  t.same(serviceLimitFrom(["c.C", "a.A", "c.C"], known), ["a.A", "c.C"]);
  t.equal(serviceLimitFrom([], known), null);
  const users = "hostplane.v1.UserService";
  t.throws(
    () => serviceLimitFrom(["a.A", users], [...known, users]),
    /must not contain hostplane\.v1\.UserService/,
  );
  t.throws(() => serviceLimitFrom(["d.D"], known), /unknown service "d.D" \(available: a.A, b.B, c.C\)/);
});
