import fc from "fast-check";
import { test } from "tap";
import type { Repository } from "../../../adapters/restic/adapter.ts";
import { createRedact } from "../../../adapters/restic/secrets.ts";

const repository: Repository = {
  location: { kind: "s3", endpoint: "http://x", path: "bucket" },
  password: 'pass "word" é',
  access: { accessKeyId: "AKIAEXAMPLE", secretAccessKey: "s+e/c=ret", sessionToken: "token$1" },
  httpProxy: "http://hugo:pa%20ss@proxy:1",
  httpsProxy: "https://otto@proxy:2",
};

test("redacts secrets in every form in which restic may print them", (t) => {
  const redact = createRedact(repository);
  const text = [
    'a pass "word" é b',
    JSON.stringify('pass "word" é'),
    encodeURIComponent('pass "word" é'),
    "AKIAEXAMPLE:s+e/c=ret s%2Be%2Fc%3Dret token$1",
    "proxyconnect http://hugo:pa%20ss@proxy:1 'pa ss' otto",
  ].join("\n");
  t.notMatch(redact(text), /word|AKIA|s\+e|s%2B|token|hugo|pa%20ss|pa ss|otto/);
  t.match(redact(text), /^a \[secret\] b$/m);
  t.equal(redact("Fatal: nothing of it"), "Fatal: nothing of it");
  t.end();
});

test("no secret of four or more characters is left, even if the text begins in the middle of one", (t) => {
  const secret = fc.string({ minLength: 4 }).filter((text) => !"[secret]".includes(text));
  fc.assert(
    fc.property(secret, fc.string(), fc.string(), fc.nat(), (password, before, after, cut) => {
      const redact = createRedact({ ...repository, password });
      const printed = `${before}${password}${after}`;
      const rest = password.slice(cut % (password.length - 3));
      return !redact(printed).includes(password) && !redact(`${rest}\n`).startsWith(rest);
    }),
  );
  t.end();
});
