import fc from "fast-check";
import { test } from "tap";
import { parseStoreAddress } from "../../../server/config/store-address.ts";

test("parses sqlite and PostgreSQL URLs, and returns what may be shown of them", async (t) => {
  t.same(parseStoreAddress("sqlite"), { kind: "sqlite" });
  t.match(parseStoreAddress("postgres://me:s3cret@db.example:5433/hostplane?sslmode=require&password=x"), {
    kind: "postgres",
    shownAs: "postgres://db.example:5433/hostplane",
  });
  t.match(parseStoreAddress("postgresql:///hostplane?host=/run/postgresql"), {
    shownAs: "postgres:///hostplane",
  });
});

test("refuses anything else without repeating it", async (t) => {
  for (const text of ["", "SQLite", "mysql://s3cret", "postgres:s3cret", "postgres://me:s3c#ret@db/x"]) {
    const parsed = parseStoreAddress(text);
    t.match(parsed, /^expected sqlite, or postgres:/, text);
    t.notMatch(parsed, /s3c/);
  }
});

test("the shown form never contains the password", async () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (user, word) => {
      const password = encodeURIComponent(`pw${word.toWellFormed()}`);
      const text = `postgres://${encodeURIComponent(user.toWellFormed())}:${password}@db/hostplane`;
      const address = parseStoreAddress(text);
      return typeof address !== "string" && address.kind === "postgres" && !address.shownAs.includes("pw");
    }),
  );
});
